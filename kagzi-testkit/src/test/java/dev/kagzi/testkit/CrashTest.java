package dev.kagzi.testkit;

import static dev.kagzi.testkit.KagziAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Workflow;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(KagziExtension.class)
class CrashTest {
  private static final WorkflowType<String, String> ORDER =
      WorkflowType.of("order", String.class, String.class).queue("q");

  /** How often the workflow's own code was started. */
  private final AtomicInteger executions = new AtomicInteger();

  private Workflow<String, String> chargeThenShip() {
    return (ctx, item) -> {
      executions.incrementAndGet();
      String charged = ctx.step("charge", String.class, () -> "charged");
      return charged + ", " + ctx.step("ship", String.class, () -> "shipped " + item);
    };
  }

  @Test
  void a_worker_that_crashes_after_a_step_has_it_recorded_and_does_nothing_more(KagziEnv env) {
    env.worker().workflow(ORDER, chargeThenShip()).start();
    env.crashWorkerAfter("charge");

    RunHandle<String> run = env.kagzi().workflow(ORDER).start("lamp");
    env.settle();

    assertThat(run)
        .hasStatus(RunStatus.COMPLETED)
        .completedWith("charged, shipped lamp")
        .executedStep("charge")
        .once()
        .executedStep("ship")
        .once();
    assertThat(executions).hasValue(2);
  }

  @Test
  void a_worker_that_crashes_after_the_last_step_has_not_reported_the_end_of_the_run(KagziEnv env) {
    env.worker().workflow(ORDER, chargeThenShip()).start();
    env.crashWorkerAfter("ship");

    RunHandle<String> run = env.kagzi().workflow(ORDER).start("lamp");

    assertThat(run).completedWith("charged, shipped lamp").executedStep("ship").once();
    assertThat(executions).hasValue(2);
  }

  @Test
  void each_crash_happens_once_and_several_happen_in_order(KagziEnv env) {
    env.worker().workflow(ORDER, chargeThenShip()).start();
    env.crashWorkerAfter("charge");
    env.crashWorkerAfter("ship");

    RunHandle<String> run = env.kagzi().workflow(ORDER).start("lamp");
    assertThat(run).completedWith("charged, shipped lamp");
    RunHandle<String> next = env.kagzi().workflow(ORDER).start("vase");

    assertThat(next).completedWith("charged, shipped vase");
    assertThat(run).executedStep("charge").once().executedStep("ship").once();
    assertThat(executions).hasValue(4);
  }

  @Test
  void a_step_of_a_branch_is_selected_by_its_name_or_by_its_key(KagziEnv env) throws Exception {
    CountDownLatch begunTwice = new CountDownLatch(2);
    CountDownLatch packed = new CountDownLatch(1);
    env.worker()
        .workflow(
            ORDER,
            (ctx, item) -> {
              begunTwice.countDown();
              return ctx.parallel(
                      "pack",
                      List.of(0, 1),
                      (branch, number) ->
                          branch.step(
                              "box",
                              Integer.class,
                              () -> {
                                if (number == 0) {
                                  packed.await();
                                }
                                return number;
                              }))
                  .toString();
            })
        .start();
    env.crashWorkerAfter("pack[1]/box");

    RunHandle<String> run = env.kagzi().workflow(ORDER).start("lamp");
    // The first branch was interrupted by the crash, and is executed again.
    assertThat(begunTwice.await(20, TimeUnit.SECONDS)).isTrue();
    packed.countDown();

    assertThat(run)
        .completedWith("[0, 1]")
        .executedStep("pack[1]/box")
        .once()
        .executedStep("pack[0]/box")
        .times(2)
        .executedStep("box")
        .times(3);
  }

  @Test
  void another_worker_continues_if_the_crashed_one_does_not_return(KagziEnv env) {
    env.worker().workflow(ORDER, chargeThenShip()).start();
    env.worker().workflow(ORDER, chargeThenShip()).start();
    env.crashWorkerAfter("charge");

    RunHandle<String> run = env.kagzi().workflow(ORDER).start("lamp");
    env.advance(Duration.ofDays(1));

    assertThat(run).hasStatus(RunStatus.COMPLETED).executedStep("charge").once();
  }

  @Test
  void a_crash_that_never_happened_is_an_error_of_the_test() {
    KagziEnv env = KagziEnv.start("never");
    env.crashWorkerAfter("chrage");

    assertThatThrownBy(env::close)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("crashWorkerAfter: chrage was not executed (expected:");
  }
}
