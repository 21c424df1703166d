package dev.kagzi.engine.transition;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.failure;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.sleep;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestReports;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.BegunStep;
import dev.kagzi.engine.run.Caller;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.Reports;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepRef;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** How long runs wait for sleeps and retries. */
class WaitTest extends EngineFixture {
  private Task startAndClaim(@Nullable RetryPolicy policy) {
    if (policy == null) {
      engine.start();
    } else {
      engine.start(policy);
    }
    return engine.claimOne(worker);
  }

  private BegunStep begin(RunId run, String name, StepKind kind) {
    Caller caller = new Caller(null, null, Set.of(worker));
    return await(
        engine.engine().reports().begin(NAMESPACE, run, name, kind, null, null, 0, caller));
  }

  private String dueAt(RunId run, String step) {
    return stored.text(
        "SELECT coalesce(due_at::text, '') AS value FROM kagzi.step_runs WHERE run_id = '"
            + run
            + "' AND step_id = '"
            + step
            + "'");
  }

  /** A simple client's claim ends however short the sleep is. */
  @Test
  void a_short_sleep_of_a_simple_client_parks_the_run_and_wakes_it() {
    Task task = startAndClaim(null);
    RunId run = task.claim().runId();
    StepRef nap = begin(run, "nap", StepKind.SLEEP).ref();

    long begun = System.nanoTime();
    await(engine.engine().reports().sleep(NAMESPACE, nap, Duration.ofMillis(400), Caller.UNKNOWN));
    RunView asleep = engine.run(run);
    Task woken = engine.claimOne(worker);
    long sleptMs = (System.nanoTime() - begun) / 1_000_000;
    BegunStep again = begin(run, "nap", StepKind.SLEEP);

    assertThat(asleep.status()).isEqualTo(RunStatus.SLEEPING);
    assertThat(asleep.workerId()).isNull();
    assertThat(woken.claim()).isEqualTo(new Claim(run, 2));
    assertThat(sleptMs).isBetween(400L, 5_000L);
    assertThat(again.execute()).isFalse();
    assertThat(engine.run(run).crashes()).isZero();
  }

  @Test
  void a_sleep_of_zero_ends_at_once() {
    Task task = startAndClaim(null);
    RunId run = task.claim().runId();
    StepRef nap = begin(run, "nap", StepKind.SLEEP).ref();

    await(engine.engine().reports().sleep(NAMESPACE, nap, Duration.ZERO, Caller.UNKNOWN));
    engine.claimOne(worker);

    assertThat(begin(run, "nap", StepKind.SLEEP).execute()).isFalse();
  }

  @Test
  void a_short_sleep_of_a_worker_is_recorded_and_keeps_the_claim() {
    Task task = startAndClaim(null);

    ReportResult slept = engine.report(sleep(task.claim(), "nap", 900));
    ReportResult longer = engine.report(sleep(task.claim(), "night", 3_600_000));

    assertThat(slept)
        .isInstanceOfSatisfying(
            ReportResult.Sleeping.class,
            sleeping -> {
              assertThat(sleeping.claimKept()).isTrue();
              assertThat(sleeping.remainingMs()).isEqualTo(900);
            });
    assertThat(longer).isEqualTo(new ReportResult.Sleeping(3_600_000, false));
    assertThat(engine.run(task.claim().runId()).status()).isEqualTo(RunStatus.SLEEPING);
  }

  /** An early claim does not end a sleep, and a repeated report does not start it again. */
  @Test
  void a_sleep_continues_after_an_early_claim_with_the_same_wake_time() {
    Task task = startAndClaim(null);
    RunId run = task.claim().runId();
    engine.report(sleep(task.claim(), "night", 3_600_000));
    String due = dueAt(run, "night");
    stored.expireLease(run);

    Task early = engine.claimOne(worker);
    RecordedStep.Result recorded = result(early, "night");
    ReportResult again = engine.report(sleep(early.claim(), "night", 3_600_000));

    assertThat(recorded)
        .isInstanceOfSatisfying(
            RecordedStep.Result.Sleeping.class,
            sleeping -> assertThat(sleeping.remainingMs()).isBetween(3_500_000L, 3_600_000L));
    assertThat(again)
        .isInstanceOfSatisfying(
            ReportResult.Sleeping.class,
            sleeping -> assertThat(sleeping.remainingMs()).isBetween(3_500_000L, 3_599_999L));
    assertThat(dueAt(run, "night")).isEqualTo(due);
    assertThat(stored.dueMs(run)).isBetween(3_500_000.0, 3_600_000.0);
  }

  @Test
  void a_sleep_that_a_crash_interrupted_continues() {
    Task task = startAndClaim(null);
    RunId run = task.claim().runId();
    Report.Sleep branch = new Report.Sleep(task.claim(), "nap", 3_600_000L, null, true);
    ReportResult kept = engine.report(branch);
    String due = dueAt(run, "nap");
    stored.expireLease(run);

    Task again = engine.claimOne(worker);

    assertThat(kept).isEqualTo(new ReportResult.Sleeping(3_600_000, true));
    assertThat(result(again, "nap")).isInstanceOf(RecordedStep.Result.Sleeping.class);
    assertThat(dueAt(run, "nap")).isEqualTo(due);
  }

  /** A sleep that has begun is not over. */
  @Test
  void a_crash_during_a_sleep_does_not_skip_it() {
    Task task = startAndClaim(null);
    RunId run = task.claim().runId();
    begin(run, "nap", StepKind.SLEEP);
    stored.expireLease(run);

    engine.claimOne(worker);
    BegunStep again = begin(run, "nap", StepKind.SLEEP);
    await(
        engine
            .engine()
            .reports()
            .sleep(NAMESPACE, again.ref(), Duration.ofHours(1), Caller.UNKNOWN));

    assertThat(again.execute()).isTrue();
    assertThat(engine.run(run).status()).isEqualTo(RunStatus.SLEEPING);
    assertThat(stored.dueMs(run)).isGreaterThan(3_500_000.0);
  }

  /** A sleep until a past time is recorded too, so that a replay takes the same path. */
  @Test
  void a_sleep_until_a_past_time_is_recorded_and_over() {
    Task task = startAndClaim(null);
    RunId run = task.claim().runId();
    Instant past = Instant.parse("2001-02-03T04:05:06Z");

    ReportResult slept = engine.report(new Report.Sleep(task.claim(), "until", null, past, false));
    stored.expireLease(run);
    Task again = engine.claimOne(worker);

    assertThat(slept).isEqualTo(new ReportResult.Sleeping(0, true));
    assertThat(result(again, "until")).isEqualTo(new RecordedStep.Result.Output(Payload.EMPTY));
  }

  /** The first wake time that was reported counts. */
  @Test
  void a_sleep_until_a_time_keeps_it_even_if_a_replay_reports_another() {
    Task task = startAndClaim(null);
    RunId run = task.claim().runId();
    Instant first = Instant.parse("2190-01-01T00:00:00Z");
    engine.report(new Report.Sleep(task.claim(), "until", null, first, false));
    String due = dueAt(run, "until");
    stored.expireLease(run);

    Task again = engine.claimOne(worker);
    engine.report(
        new Report.Sleep(again.claim(), "until", null, first.plus(Duration.ofDays(9)), false));

    assertThat(dueAt(run, "until")).isEqualTo(due).startsWith("2190-01-01");
    assertThat(engine.run(run).wakeUpAt()).isEqualTo(first);
  }

  private static Report stepFailed(
      Claim claim, int attempt, Failure why, @Nullable RetryPolicy policy) {
    return TestReports.failed(claim, "charge", attempt, null, why, policy, true, 1);
  }

  private static RetryPolicy policy(int attempts, long delayMs) {
    return new RetryPolicy(attempts, delayMs, 1, delayMs, 0, List.of());
  }

  /** Without jitter the delays are exact. */
  @Test
  void the_delays_of_retries_are_those_of_the_policy() {
    Task task = startAndClaim(null);
    RetryPolicy policy = new RetryPolicy(5, 2_000, 3, 10_000, 0, List.of());

    List<Long> delays = new ArrayList<>();
    ReportResult last = new ReportResult.FinalFailure();
    for (int attempt = 1; attempt <= 5; attempt++) {
      last = engine.report(stepFailed(task.claim(), attempt, failure("boom"), policy));
      if (last instanceof ReportResult.RetryScheduled retry) {
        delays.add(retry.delayMs());
      }
    }

    assertThat(delays).containsExactly(2_000L, 6_000L, 10_000L, 10_000L);
    assertThat(last).isEqualTo(new ReportResult.FinalFailure());
  }

  /** The failure and the run's new due time are one commit. */
  @Test
  void a_failed_step_releases_the_run_until_the_retry_is_due() {
    Task task = startAndClaim(policy(3, 5_000));
    RunId run = task.claim().runId();
    StepRef step = begin(run, "charge", StepKind.FUNCTION).ref();
    long commits = engine.engine().metrics().journalBatches();

    Reports.FailedStep failed =
        await(engine.engine().reports().failStep(NAMESPACE, step, failure("boom"), Caller.UNKNOWN));
    long batches = engine.engine().metrics().journalBatches() - commits;
    RunView waiting = engine.run(run);
    double dueMs = stored.dueMs(run);
    stored.expireLease(run);
    engine.claimOne(worker);
    BegunStep again = begin(run, "charge", StepKind.FUNCTION);

    assertThat(failed.retryScheduled()).isTrue();
    assertThat(batches).isEqualTo(1);
    assertThat(waiting.status()).isEqualTo(RunStatus.PENDING);
    assertThat(waiting.workerId()).isNull();
    assertThat(dueMs).isBetween(1.0, 5_000.0);
    assertThat(again.ref()).isEqualTo(new StepRef(run, "charge", 2, 2));
    assertThat(again.execute()).isTrue();
    assertThat(engine.run(run).attempts()).isEqualTo(1);
  }

  /** A crash is not a failure. */
  @Test
  void crashes_use_up_no_attempt_of_a_step() {
    Task task = startAndClaim(policy(2, 0));
    RunId run = task.claim().runId();
    begin(run, "charge", StepKind.FUNCTION);
    stored.expireLease(run);
    engine.claimOne(worker);
    StepRef second = begin(run, "charge", StepKind.FUNCTION).ref();

    Reports.FailedStep failed =
        await(
            engine.engine().reports().failStep(NAMESPACE, second, failure("boom"), Caller.UNKNOWN));

    assertThat(second.attempt()).isEqualTo(1);
    assertThat(failed.retryScheduled()).isTrue();
  }

  /** The step's policy, else the run's, else the server's. */
  @Test
  void the_steps_policy_overrides_the_runs_and_that_the_default() {
    Task of = startAndClaim(policy(9, 7_000));
    Task plain = startAndClaim(null);

    ReportResult byStep =
        engine.report(stepFailed(of.claim(), 1, failure("boom"), policy(9, 3_000)));
    ReportResult byRun = engine.report(stepFailed(of.claim(), 2, failure("boom"), null));
    List<ReportResult> byDefault = new ArrayList<>();
    for (int attempt = 1; attempt <= 3; attempt++) {
      byDefault.add(engine.report(stepFailed(plain.claim(), attempt, failure("boom"), null)));
    }

    assertThat(delayMs(byStep)).isEqualTo(3_000);
    assertThat(delayMs(byRun)).isEqualTo(7_000);
    assertThat(delayMs(byDefault.get(0))).isBetween(750L, 1_250L);
    assertThat(delayMs(byDefault.get(1))).isBetween(1_500L, 2_500L);
    assertThat(byDefault.get(2)).isEqualTo(new ReportResult.FinalFailure());
  }

  @Test
  void the_policy_that_a_step_began_with_is_used_for_its_failure() {
    Task task = startAndClaim(policy(9, 7_000));
    RunId run = task.claim().runId();
    StepRef step =
        await(
                engine
                    .engine()
                    .reports()
                    .begin(
                        NAMESPACE,
                        run,
                        "charge",
                        StepKind.FUNCTION,
                        payload("1"),
                        policy(9, 30_000),
                        0,
                        Caller.UNKNOWN))
            .ref();

    await(engine.engine().reports().failStep(NAMESPACE, step, failure("boom"), Caller.UNKNOWN));

    assertThat(stored.dueMs(run)).isBetween(20_000.0, 30_000.0);
  }

  private static long delayMs(ReportResult result) {
    assertThat(result).isInstanceOf(ReportResult.RetryScheduled.class);
    return ((ReportResult.RetryScheduled) result).delayMs();
  }

  private static Failure detailedFailure(
      String message, boolean fatal, long retryAfterMs, String type) {
    return new Failure(
        ErrorCode.INTERNAL, message, fatal, retryAfterMs, "", "", Map.of("type", type));
  }

  @Test
  void a_delay_requested_by_the_failure_overrides_the_policy() {
    Task task = startAndClaim(policy(9, 7_000));

    ReportResult result =
        engine.report(
            stepFailed(task.claim(), 1, detailedFailure("busy", false, 1_234, "Busy"), null));

    assertThat(delayMs(result)).isEqualTo(1_234);
  }

  @Test
  void a_failure_is_not_retryable_by_flag_by_message_prefix_and_by_type() {
    RetryPolicy policy = new RetryPolicy(9, 10, 1, 10, 0, List.of("invalid:", "CardDeclined"));
    Task task = startAndClaim(policy);
    Claim claim = task.claim();

    ReportResult byFlag = engine.report(fail(claim, "a", detailedFailure("boom", true, 0, "Boom")));
    ReportResult byPrefix =
        engine.report(fail(claim, "b", detailedFailure("invalid: amount", false, 0, "Boom")));
    ReportResult byType =
        engine.report(fail(claim, "c", detailedFailure("no", false, 0, "CardDeclined")));
    ReportResult other = engine.report(fail(claim, "d", detailedFailure("boom", false, 0, "Boom")));

    assertThat(List.of(byFlag, byPrefix, byType)).containsOnly(new ReportResult.FinalFailure());
    assertThat(delayMs(other)).isEqualTo(10);
  }

  private static Report fail(Claim claim, String step, Failure why) {
    return TestReports.failed(claim, step, 1, null, why, null, true, 1);
  }

  /** A failure that the workflow code has received is received again after a crash. */
  @Test
  void a_final_failure_is_in_the_history() {
    Task task = startAndClaim(policy(1, 0));
    Failure why = detailedFailure("boom", false, 0, "Boom");
    engine.report(fail(task.claim(), "charge", why));
    stored.expireLease(task.claim().runId());

    Task again = engine.claimOne(worker);

    assertThat(result(again, "charge")).isEqualTo(new RecordedStep.Result.FinalFailure(why));
  }

  @Test
  void a_finally_failed_step_is_not_begun_again() {
    RunId run = engine.start();
    Task task = engine.claimOne(worker);
    engine.report(
        TestEngine.stepFailed(
            task.claim(), "charge", 1, new RetryPolicy(1, 10, 1.0, 10, 0, List.of())));

    assertThatThrownBy(() -> begin(run, "charge", StepKind.FUNCTION))
        .isInstanceOfSatisfying(
            Refusal.class,
            refusal -> {
              assertThat(refusal.code()).isEqualTo(Refusal.Code.STEP_FAILED);
              assertThat(refusal.failure()).isEqualTo(failure("boom"));
            })
        .hasMessage("boom");
  }

  /** At most one attempt is open: the next one needs a failed predecessor. */
  @Test
  void an_attempt_whose_predecessor_has_not_failed_is_refused() {
    Task task = startAndClaim(policy(9, 0));

    ReportResult done = engine.report(TestEngine.stepDone(task.claim(), "charge", 2, "1"));
    ReportResult failed = engine.report(stepFailed(task.claim(), 2, failure("boom"), null));

    assertThat(List.of(done, failed))
        .allSatisfy(
            result ->
                assertThat(result)
                    .isInstanceOfSatisfying(
                        ReportResult.Refused.class,
                        refused ->
                            assertThat(refused.refusal())
                                .hasMessageContaining("attempt 1 recorded as failed")));
    assertThat(
            stored.count(
                "SELECT count(*) AS value FROM kagzi.step_runs WHERE run_id = '"
                    + task.claim().runId()
                    + "'"))
        .isZero();
  }

  /** A step key with another kind means that the code has changed, and is not accepted silently. */
  @Test
  void a_sleep_under_the_name_of_a_function_and_the_reverse_are_refused() {
    Task task = startAndClaim(null);
    RunId run = task.claim().runId();
    engine.report(TestEngine.stepDone(task.claim(), "function", "1"));
    begin(run, "nap", StepKind.SLEEP);

    ReportResult slept = engine.report(sleep(task.claim(), "function", 3_600_000));

    assertThat(slept)
        .isInstanceOfSatisfying(
            ReportResult.Refused.class,
            refused -> assertThat(refused.refusal()).hasMessageContaining("kind SLEEP"));
    assertThatThrownBy(() -> begin(run, "nap", StepKind.FUNCTION))
        .hasMessageContaining("as step nap was begun");
    assertThat(engine.run(run).status()).isEqualTo(RunStatus.RUNNING);
  }

  @Test
  void a_retry_keeps_the_claim_below_a_second_and_releases_the_run_above() {
    Task task = startAndClaim(null);
    Claim claim = task.claim();

    ReportResult shorter = engine.report(TestEngine.stepFailed(claim, "charge", 1, policy(9, 900)));
    ReportResult longer =
        engine.report(TestEngine.stepFailed(claim, "charge", 2, policy(9, 1_000)));

    assertThat(shorter)
        .isInstanceOfSatisfying(
            ReportResult.RetryScheduled.class, retry -> assertThat(retry.claimKept()).isTrue());
    assertThat(longer)
        .isInstanceOfSatisfying(
            ReportResult.RetryScheduled.class, retry -> assertThat(retry.claimKept()).isFalse());
    assertThat(engine.run(claim.runId()).status()).isEqualTo(RunStatus.PENDING);
  }

  /**
   * A run that the changed code cannot continue shows why. This is neither a failure nor a crash.
   */
  @Test
  void a_run_that_its_code_cannot_continue_shows_why_until_it_continues() {
    Task task = startAndClaim(null);
    RunId run = task.claim().runId();
    Failure why = detailedFailure("step x is a SLEEP on record", false, 0, "Changed");

    engine.report(new Report.Released(task.claim(), 30_000, why));
    RunView blocked = engine.run(run);
    double dueMs = stored.dueMs(run);
    stored.expireLease(run);
    Task fixed = engine.claimOne(worker);
    engine.report(sleep(fixed.claim(), "nap", 3_600_000));

    assertThat(blocked.status()).isEqualTo(RunStatus.PENDING);
    assertThat(blocked.blockedBy()).isEqualTo(why);
    assertThat(blocked.attempts()).isEqualTo(1);
    assertThat(blocked.crashes()).isZero();
    assertThat(dueMs).isBetween(20_000.0, 30_000.0);
    assertThat(engine.run(run).blockedBy()).isNull();
  }
}
