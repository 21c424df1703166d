package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.StepStatus;
import dev.kagzi.sdk.ErrorKind;
import dev.kagzi.sdk.Failure;
import dev.kagzi.sdk.IdConflict;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.RequestRefusedException;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunExistsException;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.StepFailedException;
import dev.kagzi.sdk.WorkflowType;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class FailureEndToEndTest extends RealServerTest {
  private static final Retry QUICK = Retry.fixed(3, Duration.ofMillis(20));

  private final AtomicInteger executions = new AtomicInteger();

  @Test
  void a_policy_excludes_a_class_with_its_subclasses() {
    assertThat(attempts(QUICK.notOn(IOException.class), new FileNotFoundException("x"))).isOne();
  }

  @Test
  void a_policy_excludes_kinds_and_message_prefixes() {
    assertThat(attempts(QUICK.notOn(ErrorKind.NETWORK), new ConnectException("x"))).isOne();
    assertThat(attempts(QUICK.notOnMessage("card "), new IOException("card declined"))).isOne();
    assertThat(attempts(QUICK.notOnMessage("card "), new IOException("no card"))).isEqualTo(3);
  }

  @Test
  void a_policy_may_retry_retryable_kinds_alone() {
    assertThat(attempts(QUICK.onlyOnRetryable(), new ConnectException("x"))).isEqualTo(3);
    assertThat(attempts(QUICK.onlyOnRetryable(), new IOException("x"))).isOne();
    assertThat(attempts(QUICK.onlyOn(ErrorKind.DATABASE), new ConnectException("x"))).isOne();
  }

  /** Returns how often a step was executed that always throws this exception. */
  private int attempts(Retry retry, Exception thrown) {
    executions.set(0);
    serve(() -> fail(thrown), retry);
    RunHandle<String> run = kagzi.workflow(type).start("Ada");
    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);
    kagzi.close();
    kagzi = Kagzi.connect(server.address());
    return executions.get();
  }

  private String fail(Exception thrown) throws Exception {
    executions.incrementAndGet();
    throw thrown;
  }

  private void serve(Callable<String> charge, Retry retry) {
    kagzi
        .worker()
        .workflow(type, (ctx, name) -> ctx.step("charge").retry(retry).run(String.class, charge))
        .start();
  }

  @Test
  void every_attempt_is_visible_with_its_error_its_start_and_its_end() {
    serve(() -> fail(new ConnectException("refused " + executions.get())), QUICK);
    RunHandle<String> run = kagzi.workflow(type).start("Ada");
    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);

    List<Step> steps = server.steps(run.runId());

    assertThat(steps).extracting(Step::getAttemptNumber).containsExactly(1, 2, 3);
    assertThat(steps)
        .allSatisfy(
            step -> {
              assertThat(step.getStatus()).isEqualTo(StepStatus.STEP_STATUS_FAILED);
              assertThat(step.getError().getMetadataMap())
                  .containsEntry("kind", "NETWORK")
                  .containsKey("stack");
              assertThat(step.hasStartedAt()).isTrue();
              assertThat(step.hasFinishedAt()).isTrue();
            });
    assertThat(steps)
        .extracting(step -> step.getError().getMessage())
        .containsExactly("refused 0", "refused 1", "refused 2");
  }

  @Test
  void the_error_of_a_run_is_the_recorded_error_of_its_step() {
    serve(() -> fail(new IOException("gateway", new ConnectException("refused"))), Retry.none());

    assertThatThrownBy(() -> kagzi.workflow(type).start("Ada").result(SOON))
        .isInstanceOfSatisfying(
            RunFailedException.class,
            e -> {
              Failure failure = e.failure();
              assertThat(failure.type()).isEqualTo("java.io.IOException");
              assertThat(failure.message()).isEqualTo("gateway");
              assertThat(failure.kind()).isEqualTo(ErrorKind.NETWORK);
              assertThat(failure.step()).contains("charge");
              assertThat(failure.causes()).containsExactly("java.net.ConnectException: refused");
              assertThat(failure.stack()).isPresent();
            });
  }

  @Test
  void a_run_with_a_policy_is_tried_again_with_its_completed_steps() {
    AtomicInteger quotes = new AtomicInteger();
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              ctx.step("quote", () -> quotes.incrementAndGet());
              return ctx.step("charge")
                  .retry(Retry.none())
                  .run(
                      String.class,
                      () -> executions.incrementAndGet() < 3 ? fail(new IOException()) : "charged");
            })
        .start();

    RunHandle<String> run =
        kagzi.workflow(type).retry(Retry.fixed(3, Duration.ofMillis(20))).start("Ada");

    assertThat(run.result(SOON)).isEqualTo("charged");
    assertThat(quotes).hasValue(1);
    assertThat(run.info().attempts()).isGreaterThan(1);
  }

  @Test
  void a_run_that_has_compensated_is_not_tried_again() {
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              try {
                return ctx.step("charge")
                    .retry(Retry.none())
                    .run(String.class, () -> fail(new IOException("no")));
              } catch (StepFailedException e) {
                ctx.step("undo", () -> {});
                throw e;
              }
            })
        .start();

    RunHandle<String> run =
        kagzi.workflow(type).retry(Retry.fixed(3, Duration.ofMillis(20))).start("Ada");

    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);
    assertThat(executions).hasValue(1);
    assertThat(run.info().attempts()).isOne();
  }

  @Test
  void a_terminated_run_ends_as_failed_with_the_reason_and_its_code_is_interrupted()
      throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    serve(
        () -> {
          running.countDown();
          try {
            new CountDownLatch(1).await();
          } catch (InterruptedException e) {
            interrupted.countDown();
          }
          return "too late";
        },
        QUICK);
    RunHandle<String> run = kagzi.workflow(type).start("Ada");
    assertThat(running.await(20, TimeUnit.SECONDS)).isTrue();

    assertThat(run.terminate("wrong customer")).isTrue();

    assertThat(interrupted.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(run.terminate("again")).isFalse();
    assertThatThrownBy(() -> run.result(SOON))
        .isInstanceOfSatisfying(
            RunFailedException.class,
            e -> assertThat(e.failure().message()).contains("wrong customer"));
  }

  @Test
  void a_failed_run_is_resumed_where_it_was() {
    AtomicInteger quotes = new AtomicInteger();
    AtomicBoolean repaired = new AtomicBoolean();
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              ctx.step("quote", () -> quotes.incrementAndGet());
              return ctx.step(
                  "charge",
                  String.class,
                  () -> repaired.get() ? "charged" : fail(new NonRetryableException("broken")));
            })
        .start();
    RunHandle<String> run = kagzi.workflow(type).start("Ada");
    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);
    repaired.set(true);

    assertThat(run.resume()).isTrue();

    assertThat(run.result(SOON)).isEqualTo("charged");
    assertThat(quotes).hasValue(1);
    assertThat(run.resume()).as("it has completed").isFalse();
  }

  /** Ids are unique in their namespace, across types. */
  @Test
  void a_start_is_not_answered_with_a_run_of_another_type() {
    WorkflowType<String, Integer> other =
        WorkflowType.of("another-type", String.class, Integer.class);
    RunHandle<String> run = kagzi.workflow(type).id("taken").start("Ada");

    assertThatThrownBy(() -> kagzi.workflow(other).id("taken").start("Ada"))
        .isInstanceOfSatisfying(
            RunExistsException.class, e -> assertThat(e.existingRunId()).contains(run.runId()))
        .hasMessageContaining(type.name())
        .hasMessageContaining("another-type");
    run.cancel();
    assertThatThrownBy(
            () ->
                kagzi
                    .workflow(other)
                    .id("taken")
                    .ifExists(IdConflict.USE_EXISTING_ANY)
                    .start("Ada"))
        .isInstanceOf(RunExistsException.class);
  }

  /** Books, fails to book the rest, and cancels; the cancellation succeeds after it is repaired. */
  private RunHandle<String> saga(AtomicInteger books, AtomicBoolean repaired) {
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              try {
                return ctx.step(
                    "book",
                    String.class,
                    () -> {
                      books.incrementAndGet();
                      return fail(new NonRetryableException("no seat"));
                    });
              } catch (StepFailedException failed) {
                ctx.step(
                    "cancel",
                    String.class,
                    () -> repaired.get() ? "cancelled" : fail(new NonRetryableException("away")));
                throw failed;
              }
            })
        .start();
    RunHandle<String> run = kagzi.workflow(type).start("Ada");
    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);
    return run;
  }

  @Test
  void a_saga_is_resumed_in_its_compensation_and_its_bookings_stay_cancelled() {
    AtomicInteger books = new AtomicInteger();
    AtomicBoolean repaired = new AtomicBoolean();
    RunHandle<String> run = saga(books, repaired);
    repaired.set(true);

    assertThat(run.resume()).isTrue();

    assertThatThrownBy(() -> run.result(SOON)).hasMessageContaining("no seat");
    assertThat(books).hasValue(1);
  }

  @Test
  void a_saga_that_compensated_everything_is_resumed_by_force_only() {
    AtomicInteger books = new AtomicInteger();
    RunHandle<String> run = saga(books, new AtomicBoolean(true));

    assertThatThrownBy(run::resume)
        .isInstanceOf(RequestRefusedException.class)
        .hasMessageContaining("step book")
        .hasMessageContaining("step cancel");
    assertThat(run.forceResume()).isTrue();

    assertThatThrownBy(() -> run.result(SOON)).hasMessageContaining("no seat");
    assertThat(books).hasValue(2);
  }

  @Test
  void a_retry_is_a_new_run_from_the_beginning() {
    AtomicInteger quotes = new AtomicInteger();
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              ctx.step("quote", () -> quotes.incrementAndGet());
              if (quotes.get() == 1) {
                throw new NonRetryableException("first time");
              }
              return "Hello " + name;
            })
        .start();
    RunHandle<String> run = kagzi.workflow(type).id("once-" + queue).start("Ada");
    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);

    RunHandle<String> again = run.retry();

    assertThat(again.existed()).isFalse();
    assertThat(again.result(SOON)).isEqualTo("Hello Ada");
    assertThat(again.info().workflowId()).contains("once-" + queue);
    assertThat(run.status()).isEqualTo(RunStatus.FAILED);
  }

  @Test
  void a_retry_of_an_active_run_is_that_run() {
    RunHandle<String> run = kagzi.workflow(type).start("Ada");

    RunHandle<String> same = run.retry();

    assertThat(same.runId()).isEqualTo(run.runId());
    assertThat(same.existed()).isTrue();
  }

  @Test
  void an_id_in_use_is_rejected_or_returns_the_finished_run_by_policy() {
    RunHandle<String> first = kagzi.workflow(type).id(queue).start("Ada");

    assertThatThrownBy(
            () -> kagzi.workflow(type).id(queue).ifExists(IdConflict.REJECT).start("Ada"))
        .isInstanceOfSatisfying(
            RunExistsException.class, e -> assertThat(e.existingRunId()).contains(first.runId()));

    first.cancel();
    assertThat(
            kagzi.workflow(type).id(queue).ifExists(IdConflict.USE_EXISTING_ANY).start("x").runId())
        .isEqualTo(first.runId());
    assertThat(kagzi.workflow(type).id(queue).ifExists(IdConflict.REJECT).start("x").existed())
        .isFalse();
  }
}
