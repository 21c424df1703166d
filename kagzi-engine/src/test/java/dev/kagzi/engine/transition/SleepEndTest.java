package dev.kagzi.engine.transition;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failed;
import static dev.kagzi.engine.TestEngine.stepDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.config.TransitionRules;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.query.StepView;
import dev.kagzi.engine.query.WaitCause;
import dev.kagzi.engine.retry.CrashPolicy;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.Caller;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.Reports;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.RecordedStep.Result;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepRef;
import dev.kagzi.engine.value.StepStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A claim does not record that a sleep is over: its row stays RUNNING, and readers see its end. */
class SleepEndTest extends EngineFixture {
  private static final Instant PAST = Instant.parse("2001-02-03T04:05:06Z");
  private static final Instant FUTURE = Instant.parse("2190-01-01T00:00:00Z");
  private static final TransitionRules NO_SHORT_WAITS =
      new TransitionRules(
          RetryPolicy.DEFAULT,
          0,
          CrashPolicy.DEFAULT,
          TransitionRules.DEFAULT.stepTimeoutMs(),
          TransitionRules.DEFAULT.stepGraceMs());

  /** Records two sleeps, of which one is over, and claims the run again. */
  private Task woken() {
    engine.start();
    Task task = engine.claimOne(worker);
    engine.report(new Report.Sleep(task.claim(), "over", null, PAST, true));
    engine.report(new Report.Sleep(task.claim(), "open", null, FUTURE, true));
    stored.expireLease(task.claim().runId());
    return engine.claimOne(worker);
  }

  private StepView view(RunId run, String step) {
    return engine.engine().queries().steps(NAMESPACE, run, step, PageSpec.FIRST).items().get(0);
  }

  private String stored(RunId run, String step) {
    return stored.text(
        "SELECT status || ' ' || coalesce(finished_at = due_at, false) AS value"
            + " FROM kagzi.step_runs WHERE run_id = '%s' AND step_id = '%s'".formatted(run, step));
  }

  @Test
  void a_claim_hands_out_the_end_of_a_sleep_and_writes_nothing() {
    Task task = woken();
    RunId run = task.claim().runId();

    assertThat(result(task, "over")).isEqualTo(new Result.Output(Payload.EMPTY));
    assertThat(result(task, "open")).isInstanceOf(Result.Sleeping.class);
    assertThat(stored(run, "over")).isEqualTo("RUNNING false");
  }

  @Test
  void lists_show_the_wake_time_as_the_end_of_the_sleep() {
    RunId run = woken().claim().runId();

    assertThat(view(run, "over").status()).isEqualTo(StepStatus.COMPLETED);
    assertThat(view(run, "over").finishedAt()).isEqualTo(PAST);
    assertThat(view(run, "open").status()).isEqualTo(StepStatus.RUNNING);
    assertThat(view(run, "open").finishedAt()).isNull();
  }

  @Test
  void a_failing_run_closes_the_open_sleep_as_failed_and_the_other_one_as_completed() {
    Task task = woken();
    RunId run = task.claim().runId();

    engine.report(failed(task.claim(), "boom"));

    assertThat(stored(run, "over")).isEqualTo("COMPLETED true");
    assertThat(stored(run, "open")).isEqualTo("FAILED false");
    assertThat(view(run, "over").error()).isNull();
    assertThat(view(run, "open").error()).isNotNull();
  }

  @Test
  void a_resumed_run_gets_the_open_sleep_back_and_keeps_the_end_of_the_other_one() {
    Task task = woken();
    RunId run = task.claim().runId();
    engine.report(failed(task.claim(), "boom"));

    await(engine.engine().runs().resume(NAMESPACE, run, null, false));
    Task resumed = engine.claimOne(worker);

    assertThat(result(resumed, "over")).isEqualTo(new Result.Output(Payload.EMPTY));
    assertThat(result(resumed, "open")).isInstanceOf(Result.Sleeping.class);
  }

  /** The branch may have been stopped: a replay must not go past what it did before. */
  @Test
  void a_sleep_in_a_branch_is_over_only_when_its_worker_has_recorded_that() {
    engine.start();
    Task task = engine.claimOne(worker);
    RunId run = task.claim().runId();
    engine.report(new Report.Sleep(task.claim(), "book[a]/pace", null, PAST, true));
    engine.report(new Report.Sleep(task.claim(), "book[b]/pace", null, PAST, true));
    engine.report(
        new Report.StepDone(
            task.claim(), "book[b]/pace", 1, StepKind.SLEEP, null, Payload.EMPTY, 0, ""));
    stored.expireLease(run);

    Task again = engine.claimOne(worker);

    assertThat(result(again, "book[a]/pace")).isEqualTo(new Result.Sleeping(0));
    assertThat(result(again, "book[b]/pace")).isEqualTo(new Result.Output(Payload.EMPTY));
    assertThat(view(run, "book[a]/pace").status()).isEqualTo(StepStatus.RUNNING);
    engine.report(failed(again.claim(), "boom"));
    assertThat(stored(run, "book[a]/pace")).isEqualTo("FAILED false");
    await(engine.engine().runs().resume(NAMESPACE, run, null, false));
    assertThat(result(engine.claimOne(worker), "book[a]/pace")).isEqualTo(new Result.Sleeping(0));
  }

  /** Both are recorded in one transaction, and a replay compares the order. */
  @Test
  void a_sleep_that_is_over_ended_after_the_result_that_was_recorded_with_it() {
    engine.start();
    Task task = engine.claimOne(worker);
    engine.report(
        List.of(stepDone(task.claim(), "a", "1"), TestEngine.sleep(task.claim(), "nap", 1)));
    stored.expireLease(task.claim().runId());

    Task again = engine.claimOne(worker);

    assertThat(again.steps()).extracting(RecordedStep::stepKey).containsExactly("a", "nap");
    assertThat(again.steps().get(0).place().recordedUs())
        .isLessThan(again.steps().get(1).place().recordedUs());
  }

  /** With the key of a step of a branch, which a simple client may use as a name. */
  @Test
  void a_sleep_of_a_simple_client_is_over_by_time_however_it_is_called() {
    engine.start();
    Task task = engine.claimOne(worker);
    RunId run = task.claim().runId();
    Caller caller = new Caller(null, null, Set.of(worker));
    Reports reports = engine.engine().reports();
    StepRef nap =
        await(reports.begin(NAMESPACE, run, "a[0]/nap", StepKind.SLEEP, null, null, 0, caller))
            .ref();
    await(reports.sleep(NAMESPACE, nap, Duration.ZERO, caller));

    Task woken = engine.claimOne(worker);

    assertThat(result(woken, "a[0]/nap")).isEqualTo(new Result.Output(Payload.EMPTY));
    assertThat(view(run, "a[0]/nap").status()).isEqualTo(StepStatus.COMPLETED);
    await(reports.completeRun(NAMESPACE, run, null, caller));
    assertThat(stored(run, "a[0]/nap")).isEqualTo("COMPLETED true");
    assertThat(view(run, "a[0]/nap").error()).isNull();
  }

  @Test
  void a_sleep_that_is_over_is_the_last_record_and_not_the_result_before_it() {
    engine.start();
    Task task = engine.claimOne(worker);
    engine.report(
        List.of(
            stepDone(task.claim(), "a", "1"),
            new Report.Sleep(task.claim(), "over", null, PAST, true)));

    assertThat(engine.engine().queries().explain(NAMESPACE, task.claim().runId()).causes())
        .first()
        .extracting(WaitCause::text, STRING)
        .contains("The last record is step over (COMPLETED) at 2001-02-03");
  }

  @Test
  void a_sleep_without_time_left_keeps_the_claim_if_no_wait_is_short() {
    engine.close();
    engine =
        TestEngine.start(database.config(), "no-short-waits", config().withRules(NO_SHORT_WAITS));
    worker = engine.register();
    engine.start();
    Task task = engine.claimOne(worker);

    ReportResult slept =
        engine.report(new Report.Sleep(task.claim(), "book[a]/pace", null, PAST, false));

    assertThat(slept).isEqualTo(new ReportResult.Sleeping(0, true));
  }

  @Test
  void a_completed_run_shows_its_sleep_as_completed() {
    engine.start();
    Task task = engine.claimOne(worker);
    engine.report(new Report.Sleep(task.claim(), "over", null, PAST, true));

    engine.report(done(task.claim(), "\"ok\""));

    assertThat(view(task.claim().runId(), "over").status()).isEqualTo(StepStatus.COMPLETED);
  }
}
