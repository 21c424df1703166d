package dev.kagzi.testkit;

import static dev.kagzi.testkit.KagziAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.WorkflowType;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(KagziExtension.class)
class RunAssertTest {
  private static final WorkflowType<String, String> ORDER =
      WorkflowType.of("order", String.class, String.class).queue("q");

  @Test
  void assertions_about_a_completed_run_pass_or_list_its_steps(KagziEnv env) {
    AtomicInteger calls = new AtomicInteger();
    env.worker()
        .workflow(
            ORDER,
            (ctx, item) -> {
              ctx.step("charge")
                  .retry(Retry.fixed(3, Duration.ofHours(1)))
                  .run(
                      () -> {
                        if (calls.incrementAndGet() < 3) {
                          throw new IOException("not yet");
                        }
                      });
              ctx.step("log", () -> {});
              ctx.step("log", () -> {});
              ctx.sleep("cool-off", Duration.ofDays(1));
              return "100 % done";
            })
        .start();
    RunHandle<String> run = env.kagzi().workflow(ORDER).start("lamp");
    env.advance(Duration.ofHours(3));
    assertThat(run).isSleeping();
    env.advance(Duration.ofDays(1));

    assertThat(run)
        .isCompleted()
        .completedWith("100 % done")
        .hasStatus(RunStatus.COMPLETED)
        .executedStep("charge")
        .times(3)
        .executedStep("log")
        .times(2)
        .executedStep("log#2")
        .once()
        .executedStep("cool-off")
        .once()
        .neverExecutedStep("ship");

    assertThatThrownBy(() -> assertThat(run).completedWith("done"))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(run.runId())
        .hasMessageContaining("completed with 100 % done (expected: done)")
        .hasMessageContaining(
            "executed: charge, charge, charge, log, log#2; slept, started or awaited: cool-off");
    assertThatThrownBy(() -> assertThat(run).executedStep("charge").once())
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("executed step charge 3 times (expected: 1)");
    assertThatThrownBy(() -> assertThat(run).isSleeping())
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("is COMPLETED (expected: SLEEPING)");
    assertThatThrownBy(() -> assertThat(run).failedWith(IOException.class))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("completed with 100 % done (expected: FAILED)");
  }

  @Test
  void assertions_about_a_chain_follow_it_run_by_run(KagziEnv env) {
    env.worker()
        .workflow(ORDER, (ctx, item) -> item.length() < 3 ? ctx.continueAsNew(item + item) : item)
        .start();

    RunHandle<String> run = env.kagzi().workflow(ORDER).start("a");

    assertThat(run).completedWith("aaaa").continuedAsNew().continuedAsNew().completedWith("aaaa");
    assertThatThrownBy(() -> assertThat(run).continuedAsNew().continuedAsNew().continuedAsNew())
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(
            "is COMPLETED and has not continued (expected: it has continued as new)");
  }

  @Test
  void assertions_about_a_failed_run_pass_or_list_its_steps(KagziEnv env) {
    env.worker()
        .workflow(
            ORDER,
            (ctx, item) ->
                ctx.step(
                    "charge",
                    String.class,
                    () -> {
                      throw new NonRetryableException("card refused");
                    }))
        .start();

    RunHandle<String> run = env.kagzi().workflow(ORDER).start("lamp");

    assertThat(run)
        .failedWith(NonRetryableException.class)
        .failedWith(RuntimeException.class)
        .failedWithMessage("refused");
    assertThatThrownBy(() -> assertThat(run).failedWith(IOException.class))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(
            "NonRetryableException: card refused (expected: java.io.IOException)");
    assertThatThrownBy(() -> assertThat(run).completedWith("done"))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("ended as FAILED in step charge")
        .hasMessageContaining("executed: charge");
  }

  @Test
  void a_run_that_has_not_ended_is_explained(KagziEnv env) {
    RunHandle<String> run = env.kagzi().workflow(ORDER).start("lamp");

    assertThatThrownBy(() -> assertThat(run).hasStatus(RunStatus.COMPLETED))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(
            "is PENDING (expected: COMPLETED); executed: nothing; No worker is online on queue q");
  }

  @Test
  void an_environment_that_does_not_settle_names_what_its_runs_do(KagziEnv env) {
    CountDownLatch end = new CountDownLatch(1);
    env.worker()
        .workflow(
            ORDER,
            (ctx, item) ->
                ctx.step(
                    "charge",
                    String.class,
                    () -> {
                      end.await();
                      return "charged";
                    }))
        .start();
    RunHandle<String> run = env.kagzi().workflow(ORDER).start("lamp");

    assertThatThrownBy(env::settle)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("not settled after 10 s")
        .hasMessageContaining(
            "run " + run.runId() + ": Step charge, attempt 1 of 3, runs on worker");
    end.countDown();
  }

  @Test
  void an_execution_that_was_lost_with_its_worker_is_counted(KagziEnv env) throws Exception {
    AtomicInteger calls = new AtomicInteger();
    CountDownLatch inStep = new CountDownLatch(1);
    env.worker()
        .workflow(
            ORDER,
            (ctx, item) ->
                ctx.step(
                    "charge",
                    String.class,
                    () -> {
                      if (calls.incrementAndGet() == 1) {
                        inStep.countDown();
                        new CountDownLatch(1).await();
                      }
                      return "charged";
                    }))
        .start();
    RunHandle<String> run = env.kagzi().workflow(ORDER).start("lamp");
    inStep.await();

    env.loseWorkers();
    env.settle();

    assertThat(run).hasStatus(RunStatus.COMPLETED).executedStep("charge").times(2);
  }
}
