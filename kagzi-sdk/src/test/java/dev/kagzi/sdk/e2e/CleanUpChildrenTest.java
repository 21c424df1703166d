package dev.kagzi.sdk.e2e;

import static dev.kagzi.sdk.OnCancel.CLEAN_UP;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.protocol.v1.Step;
import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.ChildHandle;
import dev.kagzi.sdk.RunCancelledException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Workflow;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Children of a run that cleans up after a cancel. */
class CleanUpChildrenTest extends RealServerTest {
  private final List<String> done = new CopyOnWriteArrayList<>();
  private WorkflowType<String, String> sub;

  @BeforeEach
  void nameChild() {
    sub = WorkflowType.of("sub", String.class, String.class).queue(queue);
  }

  private RunHandle<String> run(Workflow<String, String> child, Workflow<String, String> parent) {
    kagzi
        .worker()
        .workflow(sub, child)
        .workflow(type.onCancel(CLEAN_UP, Duration.ofMinutes(1)), parent)
        .start();
    return kagzi.workflow(type).start("Oslo");
  }

  private static void awaitLatch(CountDownLatch latch) throws InterruptedException {
    assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
  }

  private static void assertCancelled(RunHandle<String> run) {
    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunCancelledException.class);
  }

  @Test
  void a_branch_that_learns_of_the_cancel_leaves_the_clean_up_of_another_branch_alone()
      throws Exception {
    CountDownLatch began = new CountDownLatch(2);
    CountDownLatch undoing = new CountDownLatch(1);
    CountDownLatch learnt = new CountDownLatch(1);
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              undoing.countDown();
              ctx.step("undo", () -> awaitLatch(learnt));
              return "undone";
            },
            (ctx, name) ->
                ctx.race(
                    "both",
                    Branch.of(
                        "first",
                        branch -> {
                          try {
                            branch.step(
                                "wait",
                                () -> {
                                  began.countDown();
                                  new CountDownLatch(1).await();
                                });
                          } finally {
                            branch.cleanup(
                                "undo", cleanup -> done.add(cleanup.child(sub).run("sub", name)));
                          }
                          return "";
                        }),
                    Branch.of(
                        "second",
                        branch -> {
                          branch.step("busy", () -> ignoreInterrupts(began, undoing));
                          try {
                            branch.step("after", () -> done.add("after"));
                          } catch (RunCancelledException cancelled) {
                            learnt.countDown();
                            throw cancelled;
                          }
                          return "";
                        })));
    awaitLatch(began);

    run.cancel();

    assertCancelled(run);
    assertThat(done).containsExactly("undone");
  }

  private static void ignoreInterrupts(CountDownLatch began, CountDownLatch until) {
    began.countDown();
    while (until.getCount() > 0) {
      Thread.onSpinWait();
    }
  }

  @Test
  void main_code_that_waits_for_the_children_of_its_branches_cancels_all_of_them() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              ctx.sleep("nap", Duration.ofHours(1));
              return "";
            },
            (ctx, name) -> {
              List<ChildHandle<String>> children =
                  ctx.parallel(
                      "start",
                      List.of("a", "b", "c"),
                      (branch, item) -> branch.child(sub).start("sub", item));
              try {
                return ctx.results(children).getFirst();
              } finally {
                ctx.cleanup("wait", cleanup -> awaitCancelled(children));
              }
            });
    await().atMost(SOON).until(() -> run.status() == RunStatus.SLEEPING);

    run.cancel();

    assertCancelled(run);
    assertThat(done).containsExactly("CANCELLED", "CANCELLED", "CANCELLED");
    assertThat(server.steps(run.runId()))
        .extracting(Step::getStepKey)
        .contains("start[0]/sub", "start[1]/sub", "start[2]/sub");
  }

  private void awaitCancelled(List<ChildHandle<String>> children) {
    for (ChildHandle<String> child : children) {
      RunHandle<String> handle = kagzi.run(child.runId(), sub);
      await().atMost(Duration.ofSeconds(20)).until(() -> handle.status() == RunStatus.CANCELLED);
      done.add(handle.status().name());
    }
  }
}
