package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.StepStatus;
import dev.kagzi.sdk.ErrorKind;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.StepFailedException;
import dev.kagzi.sdk.Worker;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class TimeoutTest extends RealServerTest {
  private static final Duration SHORT = Duration.ofMillis(300);

  private final AtomicInteger executions = new AtomicInteger();
  private final CountDownLatch leave = new CountDownLatch(1);

  @Test
  void a_step_over_its_timeout_is_retried_and_the_attempt_is_visible() {
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) ->
                ctx.step("charge")
                    .timeout(SHORT)
                    .retry(Retry.fixed(2, Duration.ofMillis(20)))
                    .run(
                        String.class,
                        () -> {
                          if (executions.incrementAndGet() == 1) {
                            new CountDownLatch(1).await();
                          }
                          return "charged";
                        }))
        .start();

    RunHandle<String> run = kagzi.workflow(type).start("Ada");

    assertThat(run.result(SOON)).isEqualTo("charged");
    Step first = attempts(run).getFirst();
    assertThat(first.getStatus()).isEqualTo(StepStatus.STEP_STATUS_FAILED);
    assertThat(first.getError().getCode()).isEqualTo(ErrorCode.ERROR_CODE_TIMEOUT);
    assertThat(first.getError().getMessage()).isEqualTo("step charge timed out after 300 ms");
    assertThat(attempts(run)).extracting(Step::getAttemptNumber).containsExactly(1, 2);
  }

  @Test
  void a_start_sets_the_timeout_of_steps_without_one() {
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              try {
                ctx.step("slow", () -> new CountDownLatch(1).await());
                return "no limit";
              } catch (StepFailedException e) {
                return e.kind().name();
              }
            })
        .start();

    RunHandle<String> run =
        kagzi
            .workflow(type)
            .stepTimeout(SHORT)
            .retry(Retry.fixed(1, Duration.ofMillis(20)))
            .start("Ada");

    assertThat(run.result(SOON)).isEqualTo("TIMEOUT");
  }

  @Test
  void code_that_ignores_its_interrupt_is_abandoned_and_the_run_continues() {
    Worker worker =
        kagzi
            .worker()
            .workflow(
                type,
                (ctx, name) ->
                    ctx.step("charge")
                        .timeout(SHORT)
                        .retry(Retry.fixed(2, Duration.ofMillis(20)))
                        .run(
                            String.class,
                            () -> {
                              int execution = executions.incrementAndGet();
                              if (execution == 1) {
                                ignoreInterrupts();
                              }
                              return "attempt " + execution;
                            }))
            .start();

    RunHandle<String> run = kagzi.workflow(type).start("Ada");

    assertThat(run.result(SOON)).isEqualTo("attempt 2");
    assertThat(worker.stuckCount()).isEqualTo(1);
    leave.countDown();
    await().atMost(SOON).until(() -> worker.activeCount() == 0);
    assertThat(attempts(run)).extracting(Step::getAttemptNumber).containsExactly(1, 2);
    assertThat(run.result(SOON)).as("the late value changes nothing").isEqualTo("attempt 2");
  }

  @Test
  void a_run_over_its_timeout_ends_as_timed_out_and_its_code_is_interrupted() throws Exception {
    CountDownLatch interrupted = new CountDownLatch(1);
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              ctx.step(
                  "slow",
                  () -> {
                    try {
                      new CountDownLatch(1).await();
                    } catch (InterruptedException e) {
                      interrupted.countDown();
                      throw e;
                    }
                  });
              return name;
            })
        .start();

    RunHandle<String> run =
        kagzi.workflow(type).executionTimeout(Duration.ofSeconds(1)).start("Ada");

    assertThat(interrupted.await(20, TimeUnit.SECONDS)).isTrue();
    assertTimedOut(run);
  }

  @Test
  void a_run_that_sleeps_or_waits_for_a_worker_times_out_too() {
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              ctx.sleep("long", "1 hour");
              return name;
            })
        .start();

    RunHandle<String> asleep =
        kagzi.workflow(type).executionTimeout(Duration.ofSeconds(1)).start("Ada");
    RunHandle<String> unserved =
        kagzi
            .workflow(type)
            .queue(queue + "-nobody")
            .deadline(Instant.now().plusSeconds(1))
            .start("Ada");

    assertTimedOut(asleep);
    assertTimedOut(unserved);
  }

  @Test
  void a_run_that_timed_out_can_be_resumed_with_its_full_timeout() {
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              ctx.step(
                  "slow",
                  () -> {
                    if (executions.incrementAndGet() == 1) {
                      new CountDownLatch(1).await();
                    }
                  });
              return "through";
            })
        .start();
    RunHandle<String> run =
        kagzi.workflow(type).executionTimeout(Duration.ofSeconds(2)).start("Ada");
    assertTimedOut(run);

    assertThat(run.resume()).isTrue();

    assertThat(run.result(SOON)).isEqualTo("through");
  }

  @Test
  void a_heartbeat_timeout_below_three_intervals_is_rejected() {
    assertThatThrownBy(
            () -> kagzi.workflow(type).heartbeatTimeout(Duration.ofSeconds(1)).start("Ada"))
        .hasMessageContaining("heartbeat_timeout");
  }

  private static void assertTimedOut(RunHandle<String> run) {
    assertThatThrownBy(() -> run.result(SOON))
        .isInstanceOfSatisfying(
            RunFailedException.class,
            e -> {
              assertThat(e.status()).isEqualTo(RunStatus.TIMED_OUT);
              assertThat(e.failure().kind()).isEqualTo(ErrorKind.TIMEOUT);
            });
  }

  private static List<Step> attempts(RunHandle<String> run) {
    return server.steps(run.runId()).stream()
        .filter(step -> step.getName().equals("charge"))
        .toList();
  }

  private void ignoreInterrupts() {
    boolean left = false;
    while (!left) {
      try {
        left = leave.await(1, TimeUnit.MINUTES);
      } catch (InterruptedException e) {
        // Ignored on purpose.
      }
    }
  }
}
