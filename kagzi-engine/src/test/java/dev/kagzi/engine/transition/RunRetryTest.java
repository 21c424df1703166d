package dev.kagzi.engine.transition;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failed;
import static dev.kagzi.engine.TestEngine.failure;
import static dev.kagzi.engine.TestEngine.stepDone;
import static dev.kagzi.engine.TestEngine.stepFailed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.kagzi.engine.TestReports;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A failed run is retried as a whole if its start set a policy. */
class RunRetryTest extends EngineFixture {
  private static final RetryPolicy THREE = new RetryPolicy(3, 10, 1.0, 10, 0, List.of());
  private static final RetryPolicy ONE_STEP = new RetryPolicy(1, 10, 1.0, 10, 0, List.of());

  @Test
  void a_run_is_retried_up_to_the_limit_of_its_policy_and_then_fails() {
    RunId run = engine.start(THREE);

    Task first = engine.claimOne(worker);
    assertThat(engine.report(failed(first.claim(), "one")))
        .isInstanceOfSatisfying(
            ReportResult.RetryScheduled.class,
            retry -> {
              assertThat(retry.nextAttempt()).isEqualTo(2);
              assertThat(retry.delayMs()).isEqualTo(10);
              assertThat(retry.claimKept()).isFalse();
            });
    Task second = engine.claimOne(worker);
    assertThat(second.attempt()).isEqualTo(2);
    engine.report(failed(second.claim(), "two"));
    Task third = engine.claimOne(worker);
    assertThat(third.attempt()).isEqualTo(3);

    assertThat(engine.report(failed(third.claim(), "three")))
        .isEqualTo(new ReportResult.Accepted(RunStatus.FAILED));
    RunView end = engine.run(run);
    assertThat(end.status()).isEqualTo(RunStatus.FAILED);
    assertThat(end.attempts()).isEqualTo(3);
    assertThat(end.error()).isEqualTo(failure("three"));
  }

  @Test
  void a_run_that_waits_for_its_retry_shows_the_failure() {
    RunId run = engine.start(new RetryPolicy(2, 60_000, 1.0, 60_000, 0, List.of()));

    engine.report(failed(engine.claimOne(worker).claim(), "one"));

    RunView waiting = engine.run(run);
    assertThat(waiting.status()).isEqualTo(RunStatus.PENDING);
    assertThat(waiting.error()).isEqualTo(failure("one"));
    assertThat(waiting.wakeUpAt()).isNotNull();
    assertThat(stored.dueMs(run)).isBetween(50_000.0, 60_000.0);
  }

  @Test
  void a_run_that_succeeds_after_a_failure_shows_no_error() {
    RunId run = engine.start(THREE);
    engine.report(failed(engine.claimOne(worker).claim(), "one"));

    engine.report(done(engine.claimOne(worker).claim(), "1"));

    assertThat(engine.run(run).status()).isEqualTo(RunStatus.COMPLETED);
    assertThat(engine.run(run).error()).isNull();
  }

  @Test
  void a_run_without_a_policy_fails_at_once() {
    RunId run = engine.start();

    assertThat(engine.report(failed(engine.claimOne(worker).claim(), "no")))
        .isEqualTo(new ReportResult.Accepted(RunStatus.FAILED));
    assertThat(engine.run(run).attempts()).isEqualTo(1);
  }

  @Test
  void a_non_retryable_failure_ends_the_run_despite_its_policy() {
    RunId run = engine.start(new RetryPolicy(9, 10, 1.0, 10, 0, List.of("Boom")));

    engine.report(failed(engine.claimOne(worker).claim(), "no"));

    assertThat(engine.run(run).status()).isEqualTo(RunStatus.FAILED);
  }

  @Test
  void the_next_attempt_keeps_completed_steps_and_executes_failed_ones_again() {
    engine.start(THREE);
    Task first = engine.claimOne(worker);
    engine.report(stepDone(first.claim(), "a", "1"));
    assertThat(engine.report(stepFailed(first.claim(), "b", 1, ONE_STEP)))
        .isInstanceOf(ReportResult.FinalFailure.class);

    engine.report(failed(first.claim(), "b failed"));

    Task second = engine.claimOne(worker);
    assertThat(second.steps())
        .extracting(RecordedStep::stepKey, step -> step.result().getClass().getSimpleName())
        .containsExactlyInAnyOrder(tuple("a", "Output"), tuple("b", "Retry"));
    assertThat(second.steps())
        .as("this attempt may reach them in another order")
        .extracting(RecordedStep::place)
        .containsOnlyNulls();
    assertThat(engine.report(stepDone(second.claim(), "b", 2, "2")))
        .isInstanceOf(ReportResult.Accepted.class);
  }

  @Test
  void a_run_that_compensated_is_not_retried() {
    RunId run = engine.start(THREE);
    Task task = engine.claimOne(worker);
    engine.report(stepFailed(task.claim(), "book", 1, ONE_STEP));
    engine.report(stepDone(task.claim(), "undo", "1"));

    assertThat(engine.report(failed(task.claim(), "book failed")))
        .isEqualTo(new ReportResult.Accepted(RunStatus.FAILED));
    assertThat(engine.run(run).status()).isEqualTo(RunStatus.FAILED);
  }

  @Test
  void compensation_in_the_same_report_as_the_failure_counts() {
    RunId run = engine.start(THREE);
    Task task = engine.claimOne(worker);
    engine.report(stepFailed(task.claim(), "book", 1, ONE_STEP));

    List<ReportResult> results =
        engine.report(
            List.of(stepDone(task.claim(), "undo", "1"), failed(task.claim(), "book failed")));

    assertThat(results.get(1)).isEqualTo(new ReportResult.Accepted(RunStatus.FAILED));
    assertThat(engine.run(run).status()).isEqualTo(RunStatus.FAILED);
  }

  @Test
  void steps_of_a_parallel_branch_are_no_compensation() {
    engine.start(THREE);
    Task task = engine.claimOne(worker);
    engine.report(stepFailed(task.claim(), "pack[0]/book", 1, ONE_STEP));
    engine.report(stepDone(task.claim(), "pack[1]/book", "1"));

    List<ReportResult> results =
        engine.report(
            List.of(
                stepDone(task.claim(), "pack[2]/book", "1"), failed(task.claim(), "book failed")));

    assertThat(results.get(1)).isInstanceOf(ReportResult.RetryScheduled.class);
  }

  @Test
  void steps_of_the_enclosing_branch_are_compensation() {
    engine.start(THREE);
    Task task = engine.claimOne(worker);
    engine.report(stepFailed(task.claim(), "pack[0]/book", 1, ONE_STEP));
    engine.report(stepDone(task.claim(), "undo", "1"));

    assertThat(engine.report(failed(task.claim(), "book failed")))
        .isEqualTo(new ReportResult.Accepted(RunStatus.FAILED));
  }

  @Test
  void a_final_failure_as_the_last_recorded_step_is_no_compensation() {
    engine.start(THREE);
    Task task = engine.claimOne(worker);
    engine.report(stepDone(task.claim(), "before", "1"));
    engine.report(stepFailed(task.claim(), "book", 1, ONE_STEP));

    assertThat(engine.report(failed(task.claim(), "book failed")))
        .isInstanceOf(ReportResult.RetryScheduled.class);
  }

  @Test
  void a_final_failure_of_an_earlier_run_attempt_is_no_compensation_in_the_next() {
    engine.start(THREE);
    Task first = engine.claimOne(worker);
    engine.report(stepFailed(first.claim(), "book", 1, ONE_STEP));
    engine.report(failed(first.claim(), "book failed"));
    Task second = engine.claimOne(worker);
    engine.report(stepDone(second.claim(), "before", "1"));
    engine.report(stepFailed(second.claim(), "book", 2, ONE_STEP));

    assertThat(engine.report(failed(second.claim(), "book failed")))
        .isInstanceOf(ReportResult.RetryScheduled.class);
  }

  @Test
  void a_step_left_open_by_an_earlier_run_attempt_can_fail_finally_in_the_next() {
    engine.start(THREE);
    Task first = engine.claimOne(worker);
    engine.report(TestReports.started(first.claim(), "a", 1, StepKind.FUNCTION, null, 300));
    engine.report(failed(first.claim(), "left the step behind"));
    Task second = engine.claimOne(worker);
    engine.report(stepFailed(second.claim(), "a", 1, ONE_STEP));
    engine.report(new Report.Released(second.claim(), 0, null));

    Task third = engine.claimOne(worker);

    assertThat(third.steps())
        .extracting(step -> step.result().getClass().getSimpleName())
        .containsExactly("FinalFailure");
  }

  @Test
  void a_repeated_failure_gets_the_same_answer() {
    engine.start(THREE);
    Task task = engine.claimOne(worker);
    engine.report(failed(task.claim(), "one"));

    assertThat(engine.report(failed(task.claim(), "one")))
        .isInstanceOfSatisfying(
            ReportResult.RetryScheduled.class,
            retry -> assertThat(retry.nextAttempt()).isEqualTo(2));
    Task second = engine.claimOne(worker);
    assertThat(engine.report(failed(task.claim(), "one")))
        .isInstanceOf(ReportResult.RetryScheduled.class);
    assertThat(engine.report(done(second.claim(), "1")))
        .isEqualTo(new ReportResult.Accepted(RunStatus.COMPLETED));
    assertThat(engine.run(task.claim().runId()).attempts()).isEqualTo(2);
  }

  /** A resume does not redo the work that the run has undone. */
  @Test
  void a_run_that_compensated_is_not_retried_after_a_resume() {
    RunId run = engine.start(THREE);
    Task first = engine.claimOne(worker);
    engine.report(stepFailed(first.claim(), "book", 1, ONE_STEP));
    engine.report(stepDone(first.claim(), "undo", "1"));
    engine.report(failed(first.claim(), "book failed"));
    await(engine.engine().runs().resume(NAMESPACE, run, null, true));
    Task second = engine.claimOne(worker);
    engine.report(stepFailed(second.claim(), "book", 2, ONE_STEP));

    assertThat(engine.report(failed(second.claim(), "book failed again")))
        .isEqualTo(new ReportResult.Accepted(RunStatus.FAILED));
  }

  /** A resume moves caught failures into the new attempt, but not the steps that undid the work. */
  @Test
  void a_run_that_compensated_is_not_retried_although_its_new_attempt_records_nothing() {
    RunId run = engine.start(THREE);
    Task first = engine.claimOne(worker);
    engine.report(stepFailed(first.claim(), "book", 1, ONE_STEP));
    engine.report(stepDone(first.claim(), "undo", "1"));
    engine.report(failed(first.claim(), "a bug behind the undo"));
    await(engine.engine().runs().resume(NAMESPACE, run, null, false));

    assertThat(engine.report(failed(engine.claimOne(worker).claim(), "the bug again")))
        .isEqualTo(new ReportResult.Accepted(RunStatus.FAILED));
  }
}
