package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.WorkflowContext;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Branches whose code does not match the history. */
class BlockedBranchTest extends RealServerTest {
  private static final Signal<String> GO = Signal.of("go", String.class);

  private enum Deployed {
    ORIGINAL,
    BROKEN,
    REPAIRED
  }

  private final AtomicInteger inserted = new AtomicInteger();
  private volatile Deployed deployed = Deployed.ORIGINAL;

  private String pack(WorkflowContext branch, String item) {
    if (deployed != Deployed.ORIGINAL) {
      branch.step("inserted", inserted::incrementAndGet);
    }
    if (deployed == Deployed.BROKEN) {
      // On record is a step with this name.
      branch.sleep("pack", Duration.ZERO);
    }
    branch.step("pack", () -> {});
    return item + branch.receive(GO);
  }

  @Test
  void a_step_before_the_call_that_blocks_its_branch_is_recorded_and_not_repeated() {
    kagzi
        .worker()
        .workflow(type, (ctx, name) -> "" + ctx.parallel("items", List.of("a"), this::pack))
        .start();
    RunHandle<String> run = kagzi.workflow(type).start("Ada");
    await().atMost(SOON).until(() -> run.status() == RunStatus.SLEEPING);

    deployed = Deployed.BROKEN;
    run.signal(GO, "1");
    await()
        .atMost(SOON)
        .until(
            () ->
                run.info().failure().isPresent()
                    && run.info().failure().get().message().contains("calls it as a SLEEP"));
    deployed = Deployed.REPAIRED;

    assertThat(run.result(SOON)).isEqualTo("[a1]");
    assertThat(inserted).hasValue(1);
  }
}
