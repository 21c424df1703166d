package dev.kagzi.examples.docs;

import static dev.kagzi.testkit.KagziAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The code of docs/published.md. */
@ExtendWith(KagziExtension.class)
class PublishedDocsTest {
  static final Signal<String> CHECKED = Signal.of("checked", String.class);
  static final WorkflowType<Integer, String> IMPORT =
      WorkflowType.of("import", Integer.class, String.class).queue("imports");

  // docs: published.md
  record Progress(int done, int all) {}

  static String importFiles(WorkflowContext ctx, int files) {
    for (int i = 1; i <= files; i++) {
      int file = i;
      ctx.step("import", () -> load(file));
      ctx.publish("progress", new Progress(i, files));
    }
    ctx.publish("state", "waits for the check");
    return ctx.receive(CHECKED);
  }

  // end

  private static void load(int file) {
    assertThat(file).isPositive();
  }

  @Test
  void a_run_publishes_its_progress_and_readers_see_it(KagziEnv env) {
    env.worker("imports").workflow(IMPORT, PublishedDocsTest::importFiles).start();
    Kagzi kagzi = env.kagzi();
    RunHandle<String> started = kagzi.workflow(IMPORT).id("import-7").start(3);
    env.settle();
    // docs: published.md
    RunHandle<String> run = kagzi.run(IMPORT, "import-7");
    Optional<Progress> progress = run.published("progress", Progress.class);
    // end
    assertThat(progress).contains(new Progress(3, 3));
    started.signal(CHECKED, "all fine");
    List<Progress> bar = new ArrayList<>();
    // docs: published.md
    run.watch("progress", Progress.class).forEach(each -> bar.add(each));
    // end
    assertThat(bar).endsWith(new Progress(3, 3));
    assertThat(run).completedWith("all fine");
  }

  @Test
  void a_test_asserts_what_was_published(KagziEnv env) {
    env.worker("imports").workflow(IMPORT, PublishedDocsTest::importFiles).start();
    // docs: published.md
    RunHandle<String> run = env.kagzi().workflow(IMPORT).start(2);
    env.settle();

    assertThat(run).isSleeping().hasPublished("progress", new Progress(2, 2));
    // end
    run.signal(CHECKED, "done");
    assertThat(run).completedWith("done").hasPublished("state", "waits for the check");
  }
}
