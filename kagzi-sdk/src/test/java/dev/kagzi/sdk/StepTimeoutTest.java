package dev.kagzi.sdk;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import ch.qos.logback.core.read.ListAppender;
import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.WorkflowStatus;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class StepTimeoutTest extends FakeServerTest {
  private static final Duration SHORT = Duration.ofMillis(150);
  private static final Logger STUCK =
      (Logger) LoggerFactory.getLogger("dev.kagzi.sdk.internal.run.StuckCode");

  private final AtomicInteger executions = new AtomicInteger();
  private final List<Object> seen = new CopyOnWriteArrayList<>();
  private final ListAppender<ILoggingEvent> warnings = new ListAppender<>();

  @BeforeEach
  void listen() {
    warnings.list = new CopyOnWriteArrayList<>();
    warnings.start();
    STUCK.addAppender(warnings);
  }

  @AfterEach
  void listenNoMore() {
    STUCK.detachAppender(warnings);
  }

  @Test
  void a_step_over_its_timeout_is_interrupted_and_retried() {
    worker(
            (ctx, name) ->
                ctx.step("charge")
                    .timeout(SHORT)
                    .run(
                        String.class,
                        () -> {
                          if (executions.incrementAndGet() == 1) {
                            new CountDownLatch(1).await();
                          }
                          return "charged";
                        }))
        .start();

    RunHandle<String> run = start();

    assertThat(run.result(SOON)).isEqualTo("charged");
    ErrorDetail error = reported(ReportItem.WhatCase.STEP_FAILED).getStepFailed().getError();
    assertThat(error.getMessage()).isEqualTo("step charge timed out after 150 ms");
    assertThat(error.getCode()).isEqualTo(ErrorCode.ERROR_CODE_TIMEOUT);
    assertThat(error.getNonRetryable()).isFalse();
    assertThat(error.getMetadataMap())
        .containsEntry("kind", "TIMEOUT")
        .containsEntry("type", "java.util.concurrent.TimeoutException");
    assertThat(error.getMetadataOrThrow("stack")).contains("Caused by: java.lang.Interrupted");
  }

  @Test
  void a_value_returned_after_the_timeout_is_not_recorded() {
    worker(
            (ctx, name) ->
                ctx.step("slow")
                    .timeout(SHORT)
                    .retry(Retry.none())
                    .run(
                        String.class,
                        () -> {
                          blockUntilInterrupted();
                          return "too late";
                        }))
        .start();

    assertThatThrownBy(() -> start().result(SOON))
        .isInstanceOfSatisfying(
            RunFailedException.class,
            e -> {
              assertThat(e.failure().kind()).isEqualTo(ErrorKind.TIMEOUT);
              assertThat(e.failure().step()).contains("slow");
            })
        .hasMessageContaining("in step slow")
        .hasMessageContaining("timed out after 150 ms");
  }

  @Test
  void the_interrupt_of_a_step_does_not_reach_the_code_after_it() {
    worker(
            (ctx, name) -> {
              try {
                ctx.step("slow")
                    .timeout(SHORT)
                    .retry(Retry.none())
                    .run(
                        () -> {
                          blockUntilInterrupted();
                          Thread.currentThread().interrupt();
                        });
              } catch (StepFailedException e) {
                seen.add(e.kind());
                seen.add(Thread.currentThread().isInterrupted());
              }
              return ctx.step("next", String.class, () -> "" + Thread.interrupted());
            })
        .start();

    assertThat(start().result(SOON)).isEqualTo("false");
    assertThat(seen).containsExactly(ErrorKind.TIMEOUT, false);
  }

  @Test
  void a_step_without_a_timeout_has_the_timeout_of_the_run() {
    worker(
            (ctx, name) -> {
              ctx.step("patient").timeout(SOON).run(() -> seen.add("patient"));
              ctx.step("slow", () -> new CountDownLatch(1).await());
              return name;
            })
        .start();

    RunHandle<String> run =
        kagzi
            .workflow(GREET)
            .stepTimeout(SHORT)
            .retry(Retry.fixed(1, Duration.ofMillis(10)))
            .start("Ada");

    assertThatThrownBy(() -> run.result(SOON)).hasMessageContaining("step slow timed out");
    assertThat(seen).containsExactly("patient");
  }

  @Test
  void a_started_report_carries_the_steps_timeout_and_retry_policy() {
    CountDownLatch end = new CountDownLatch(1);
    worker(
            (ctx, name) -> {
              ctx.step("slow").timeout(SOON).retry(Retry.exponential(7)).run(() -> end.await());
              return name;
            })
        .start();
    RunHandle<String> run = start();

    await().until(() -> server.state.with(run.runId(), r -> r.startedSteps.contains("slow")));
    end.countDown();

    ReportItem.StepStarted started = reported(ReportItem.WhatCase.STEP_STARTED).getStepStarted();
    assertThat(started.getTimeoutMs()).isEqualTo(SOON.toMillis());
    assertThat(started.getRetryPolicy().getMaximumAttempts()).isEqualTo(7);
    run.result(SOON);
  }

  @Test
  void code_that_ignores_its_interrupt_is_abandoned_and_the_run_continues() throws Exception {
    CountDownLatch leave = new CountDownLatch(1);
    Worker worker =
        worker(
                (ctx, name) ->
                    ctx.step("charge")
                        .timeout(SHORT)
                        .run(
                            String.class,
                            () -> {
                              int execution = executions.incrementAndGet();
                              if (execution == 1) {
                                ignoreInterruptsUntil(leave);
                              }
                              return "attempt " + execution;
                            }))
            .start();

    RunHandle<String> run = start();

    assertThat(run.result(SOON)).isEqualTo("attempt 2");
    assertThat(worker.stuckCount()).isEqualTo(1);
    await().until(() -> worker.activeCount() == 1);
    assertThat(reportsOfEpoch(1))
        .containsExactly(
            ReportItem.WhatCase.STEP_STARTED,
            ReportItem.WhatCase.STEP_FAILED,
            ReportItem.WhatCase.RELEASED);
    assertThat(warnings.list.getFirst().getFormattedMessage())
        .contains("run=" + run.runId())
        .contains("step=charge")
        .contains("running_ms")
        .contains("at=\"");

    leave.countDown();

    await().atMost(SOON).until(() -> worker.activeCount() == 0);
    assertThat(worker.stuckCount()).isZero();
    assertThat(reportsOfEpoch(1)).as("it has written no more").hasSize(3);
  }

  /** The thread that checks the timeouts of all runs also logs. */
  @Test
  void an_error_of_the_application_s_log_does_not_stop_the_timeouts_of_other_runs()
      throws Exception {
    CountDownLatch leave = new CountDownLatch(1);
    BrokenAppender broken = new BrokenAppender();
    broken.start();
    STUCK.addAppender(broken);
    try {
      worker(
              (ctx, name) ->
                  ctx.step("charge")
                      .timeout(SHORT)
                      .run(
                          String.class,
                          () -> {
                            switch (executions.incrementAndGet()) {
                              case 1 -> ignoreInterruptsUntil(leave);
                              case 3 -> new CountDownLatch(1).await();
                              default -> {}
                            }
                            return "charged";
                          }))
          .start();
      assertThat(start().result(SOON)).isEqualTo("charged");
      assertThat(broken.reached.await(10, TimeUnit.SECONDS)).isTrue();

      assertThat(start().result(SOON)).isEqualTo("charged");
    } finally {
      STUCK.detachAppender(broken);
      leave.countDown();
    }
  }

  private static final class BrokenAppender extends AppenderBase<ILoggingEvent> {
    final CountDownLatch reached = new CountDownLatch(1);

    @Override
    protected void append(ILoggingEvent event) {
      reached.countDown();
      throw new NoClassDefFoundError("broken appender");
    }
  }

  @Test
  void cpu_bound_steps_over_their_timeout_are_abandoned_although_they_hold_every_core() {
    int cores = Runtime.getRuntime().availableProcessors();
    AtomicBoolean leave = new AtomicBoolean();
    worker(
            (ctx, name) ->
                ctx.step("compute")
                    .timeout(SHORT)
                    .retry(Retry.none())
                    .run(
                        String.class,
                        () -> {
                          executions.incrementAndGet();
                          while (!leave.get()) {
                            Thread.onSpinWait();
                          }
                          return name;
                        }))
        .maxConcurrent(cores)
        .start();
    List<RunHandle<String>> runs = IntStream.range(0, cores).mapToObj(i -> start()).toList();
    try {
      await().atMost(SOON).until(() -> executions.get() == cores);

      await().atMost(SOON).until(() -> runs.stream().allMatch(this::hasTimedOut));
    } finally {
      leave.set(true);
    }
  }

  private boolean hasTimedOut(RunHandle<?> run) {
    return server.state.with(
        run.runId(),
        r ->
            r.steps.containsKey("compute")
                && requireNonNull(r.steps.get("compute")).hasFinalFailure());
  }

  @Test
  void a_final_timeout_reaches_the_code_in_another_execution() {
    CountDownLatch leave = new CountDownLatch(1);
    worker(
            (ctx, name) -> {
              try {
                ctx.step("charge")
                    .timeout(SHORT)
                    .retry(Retry.none())
                    .run(() -> ignoreInterruptsUntil(leave));
                return "charged";
              } catch (StepFailedException e) {
                return e.kind() + " " + e.failure().stack().orElse("").contains("ignoreInterrupts");
              }
            })
        .start();

    assertThat(start().result(SOON)).isEqualTo("TIMEOUT true");
    leave.countDown();
  }

  @Test
  void code_that_ignores_a_cancel_is_counted_as_stuck_too() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch leave = new CountDownLatch(1);
    Worker worker =
        worker(
                (ctx, name) -> {
                  ctx.step(
                      "slow",
                      () -> {
                        running.countDown();
                        ignoreInterruptsUntil(leave);
                      });
                  return name;
                })
            .start();
    RunHandle<String> run = start();
    assertThat(running.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(worker.stuckCount()).isZero();

    run.cancel();

    await().atMost(SOON).until(() -> worker.stuckCount() == 1);
    leave.countDown();
    await().atMost(SOON).until(() -> worker.stuckCount() == 0 && worker.activeCount() == 0);
  }

  @Test
  void a_run_over_its_deadline_is_interrupted_and_reports_nothing_more() throws Exception {
    CountDownLatch interrupted = new CountDownLatch(1);
    Worker worker =
        worker(
                (ctx, name) -> {
                  ctx.step("done", () -> {});
                  ctx.step(
                      "slow",
                      () -> {
                        blockUntilInterrupted();
                        interrupted.countDown();
                      });
                  ctx.step("next", () -> seen.add("next"));
                  return name;
                })
            .start();

    RunHandle<String> run =
        kagzi.workflow(GREET).executionTimeout(Duration.ofSeconds(1)).start("Ada");

    assertThat(interrupted.await(10, TimeUnit.SECONDS)).isTrue();
    await().atMost(SOON).until(() -> worker.activeCount() == 0);
    assertThat(steps(run)).contains("done").doesNotContain("next");
    assertThat(seen).isEmpty();
    assertThat(reportsOfEpoch(1))
        .doesNotContain(
            ReportItem.WhatCase.STEP_FAILED,
            ReportItem.WhatCase.WORKFLOW_FAILED,
            ReportItem.WhatCase.RELEASED);
    server.state.with(
        run.runId(),
        r -> {
          r.finish(WorkflowStatus.WORKFLOW_STATUS_TIMED_OUT);
          return true;
        });
    assertThatThrownBy(() -> run.result(SOON))
        .isInstanceOfSatisfying(
            RunFailedException.class, e -> assertThat(e.status()).isEqualTo(RunStatus.TIMED_OUT));
  }

  @Test
  void a_timeout_of_zero_is_rejected() {
    worker(
            (ctx, name) ->
                ctx.step("x").timeout(Duration.ZERO).run(String.class, () -> "never executed"))
        .start();

    assertThatThrownBy(() -> start().result(SOON)).hasMessageContaining("timeout: PT0S");
    assertThatThrownBy(() -> kagzi.workflow(GREET).stepTimeout(Duration.ofMillis(-1)))
        .hasMessageContaining("stepTimeout: PT-0.001S (expected: > 0)");
  }

  private static void blockUntilInterrupted() {
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      // Swallows the interrupt, as careless code does.
    }
  }

  private static void ignoreInterruptsUntil(CountDownLatch leave) {
    boolean left = false;
    while (!left) {
      try {
        left = leave.await(1, TimeUnit.MINUTES);
      } catch (InterruptedException e) {
        // Ignored on purpose.
      }
    }
  }

  private ReportItem reported(ReportItem.WhatCase what) {
    return requireNonNull(
        server.workers.reports.stream()
            .flatMap(report -> report.getItemsList().stream())
            .filter(item -> item.getWhatCase() == what)
            .findFirst()
            .orElse(null));
  }

  private List<ReportItem.WhatCase> reportsOfEpoch(int epoch) {
    return server.workers.reports.stream()
        .flatMap(report -> report.getItemsList().stream())
        .filter(item -> item.getEpoch() == epoch)
        .map(ReportItem::getWhatCase)
        .toList();
  }
}
