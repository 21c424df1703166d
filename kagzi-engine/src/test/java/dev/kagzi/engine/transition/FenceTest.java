package dev.kagzi.engine.transition;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failed;
import static dev.kagzi.engine.TestEngine.failure;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.sleep;
import static dev.kagzi.engine.TestEngine.stepDone;
import static dev.kagzi.engine.TestEngine.stepFailed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.Holds;
import dev.kagzi.engine.Stored;
import dev.kagzi.engine.TestClock;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestReports;
import dev.kagzi.engine.Valve;
import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.BegunStep;
import dev.kagzi.engine.run.Caller;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.Reports;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepRef;
import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The epoch is the fencing token: a worker that lost its claim cannot change the run. */
class FenceTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final String CLAIM = "WITH c AS MATERIALIZED";
  private static final String BATCH_LOCK = "status, epoch, ended_epoch, locked_by";

  private final Stored stored = new Stored(database);
  private Holds holds;
  private TestEngine engine;
  private WorkerId first;
  private WorkerId second;

  @BeforeEach
  void open(TestInfo test) {
    // The tests mark workers as offline themselves.
    Duration never = Duration.ofHours(1);
    EngineConfig config =
        EngineConfig.defaults()
            .withWorkers(
                new WorkerConfig(Duration.ofSeconds(3), Duration.ofSeconds(60), never, never));
    holds = new Holds(database.config());
    engine = TestEngine.start(database.config(), test.getDisplayName(), config, holds);
    first = engine.register();
    second = engine.register();
  }

  @AfterEach
  void close() {
    engine.close();
  }

  /** How a worker loses its claim. */
  enum Loss {
    LEASE_EXPIRED,
    WORKER_GONE,
    DEREGISTERED
  }

  private Task lose(Task task, Loss how) {
    switch (how) {
      case LEASE_EXPIRED -> stored.expireLease(task.claim().runId());
      case WORKER_GONE -> {
        database.execute(
            "UPDATE kagzi.workers SET last_heartbeat_at = '2000-01-01' WHERE worker_id = '"
                + first
                + "'");
        assertThat(engine.engine().workers().recovery().releaseStale()).isEqualTo(1);
      }
      case DEREGISTERED -> await(engine.engine().workers().deregister(null, first, false));
    }
    return engine.claimOne(second);
  }

  private static List<Report> everyReport(Claim claim) {
    return List.of(
        TestReports.started(claim, "a", 1, StepKind.FUNCTION, null, 1),
        stepDone(claim, "b", "1"),
        stepFailed(claim, "c", 1, RetryPolicy.DEFAULT),
        sleep(claim, "d", 100_000),
        TestReports.awaited(claim, List.of("e"), true, null),
        new Report.Released(claim, 0, null),
        failed(claim, "no"),
        done(claim, "1"));
  }

  @ParameterizedTest
  @EnumSource(Loss.class)
  void a_lost_claim_changes_nothing_with_any_report(Loss how) {
    RunId run = engine.start();
    Task lost = engine.claimOne(first);
    Task held = lose(lost, how);
    String before = stored.everythingOf(run);

    List<ReportResult> together = engine.report(everyReport(lost.claim()));
    for (Report alone : everyReport(lost.claim())) {
      ReportResult result = engine.report(alone);

      // After the deregistration has released the claim, these reports may be answered like
      // repeated ones.
      boolean changesNothing =
          alone instanceof Report.StepStarted
              || alone instanceof Report.Awaited
              || alone instanceof Report.Released;
      if (how != Loss.DEREGISTERED || !changesNothing) {
        assertThat(result).as("%s", alone).isEqualTo(new ReportResult.ClaimLost(RunStatus.RUNNING));
      }
    }

    assertThat(together).noneMatch(ReportResult.Sleeping.class::isInstance);
    assertThat(stored.everythingOf(run)).isEqualTo(before);
    assertThat(held.claim()).isEqualTo(new Claim(run, 2));
    assertThat(engine.report(done(held.claim(), "2")))
        .isEqualTo(new ReportResult.Accepted(RunStatus.COMPLETED));
  }

  @Test
  void a_lost_claim_changes_nothing_after_the_end_of_the_run() {
    RunId run = engine.start();
    Task lost = engine.claimOne(first);
    Task held = lose(lost, Loss.LEASE_EXPIRED);
    engine.report(done(held.claim(), "\"right\""));
    String before = stored.everythingOf(run);

    List<ReportResult> results = engine.report(everyReport(lost.claim()));

    assertThat(results).containsOnly(new ReportResult.ClaimLost(RunStatus.COMPLETED));
    assertThat(stored.everythingOf(run)).isEqualTo(before);
  }

  /** Simple clients do not send an epoch; their step ids contain it. */
  @Test
  void steps_of_simple_clients_are_fenced_by_their_ids() {
    RunId run = engine.start();
    Task lost = engine.claimOne(first);
    StepRef step = begin(run, "charge").ref();
    StepRef nap = begin(run, "nap", StepKind.SLEEP).ref();
    lose(lost, Loss.LEASE_EXPIRED);
    String before = stored.everythingOf(run);
    Reports reports = engine.engine().reports();

    assertClaimLost(reports.completeStep(NAMESPACE, step, payload("1"), Caller.UNKNOWN));
    assertClaimLost(reports.failStep(NAMESPACE, step, failure("late"), Caller.UNKNOWN));
    assertClaimLost(reports.sleep(NAMESPACE, nap, Duration.ofMillis(10), Caller.UNKNOWN));
    assertClaimLost(reports.completeRun(NAMESPACE, run, payload("1"), Caller.ofEpoch(1)));
    assertClaimLost(reports.failRun(NAMESPACE, run, failure("late"), Caller.ofEpoch(1)));
    assertClaimLost(
        reports.begin(NAMESPACE, run, "next", StepKind.FUNCTION, null, null, 0, Caller.ofEpoch(1)));
    assertThat(stored.everythingOf(run)).isEqualTo(before);
  }

  /** The connection identifies the caller if the call does not. */
  @ParameterizedTest
  @EnumSource(Loss.class)
  void a_simple_client_that_lost_its_run_changes_nothing_over_its_connection(Loss how) {
    RunId run = engine.start();
    lose(engine.claimOne(first), how);
    String before = stored.everythingOf(run);
    Reports reports = engine.engine().reports();

    for (Caller loser :
        List.of(
            new Caller(null, null, Set.of(first)),
            new Caller(null, first, Set.of()),
            new Caller(null, first, Set.of(second)))) {
      assertClaimLost(reports.begin(NAMESPACE, run, "a", StepKind.FUNCTION, null, null, 0, loser));
      assertClaimLost(reports.completeRun(NAMESPACE, run, payload("1"), loser));
      assertClaimLost(reports.failRun(NAMESPACE, run, failure("late"), loser));
    }

    assertThat(stored.everythingOf(run)).isEqualTo(before);
    Caller holder = new Caller(null, null, Set.of(first, second));
    assertThat(await(reports.completeRun(NAMESPACE, run, payload("2"), holder)))
        .isEqualTo(RunStatus.COMPLETED);
  }

  /** A release by the second worker does not give the claim back to the first one. */
  @ParameterizedTest
  @EnumSource(Loss.class)
  void a_simple_client_that_lost_its_run_stays_fenced_after_the_next_worker_released_it(Loss how) {
    RunId run = engine.start();
    Task next = lose(engine.claimOne(first), how);
    engine.report(new Report.Released(next.claim(), 0, null));
    engine.claimOne(second);
    String before = stored.everythingOf(run);
    Reports reports = engine.engine().reports();

    Caller loser = new Caller(null, null, Set.of(first));
    assertClaimLost(reports.begin(NAMESPACE, run, "a", StepKind.FUNCTION, null, null, 0, loser));
    assertClaimLost(reports.completeRun(NAMESPACE, run, payload("1"), loser));
    assertClaimLost(reports.failRun(NAMESPACE, run, failure("late"), loser));

    assertThat(stored.everythingOf(run)).isEqualTo(before);
  }

  /** Both are in one batch: the second is decided on the state that the first has set. */
  @Test
  void of_two_completions_in_one_batch_the_second_is_refused() throws Exception {
    RunId run = engine.start();
    engine.claimOne(first);
    Reports reports = engine.engine().reports();
    CompletableFuture<RunStatus> one;
    CompletableFuture<RunStatus> same;
    CompletableFuture<RunStatus> other;
    try (Holds.Hold batch = holds.commitAfter(BATCH_LOCK)) {
      CompletableFuture<BegunStep> held =
          reports.begin(NAMESPACE, run, "a", StepKind.FUNCTION, null, null, 0, Caller.UNKNOWN);
      batch.awaitReached();
      one = reports.completeRun(NAMESPACE, run, payload("1"), Caller.UNKNOWN);
      same = reports.completeRun(NAMESPACE, run, payload("1"), Caller.UNKNOWN);
      other = reports.completeRun(NAMESPACE, run, payload("2"), Caller.UNKNOWN);
      batch.release();
      await(held);
    }

    assertThat(await(one)).isEqualTo(RunStatus.COMPLETED);
    assertThat(await(same)).isEqualTo(RunStatus.COMPLETED);
    assertClaimLost(other);
  }

  private BegunStep begin(RunId run, String name) {
    return begin(run, name, StepKind.FUNCTION);
  }

  private BegunStep begin(RunId run, String name, StepKind kind) {
    return await(
        engine.engine().reports().begin(NAMESPACE, run, name, kind, null, null, 0, Caller.UNKNOWN));
  }

  private static void assertClaimLost(CompletableFuture<?> answer) {
    assertThatThrownBy(() -> await(answer))
        .isInstanceOfSatisfying(
            Refusal.class,
            refusal -> assertThat(refusal.reason()).isEqualTo(Refusal.Reason.FAILED_PRECONDITION));
  }

  /** Makes the first call about the run, which the run's row records. */
  private void acknowledge(Task held) {
    engine.report(new Report.Awaited(held.claim(), List.of("none"), true, null, true));
  }

  /** A completed step stays completed, and a later failure report returns the recorded result. */
  @Test
  void a_failure_after_the_result_changes_nothing_and_returns_the_result() {
    RunId run = engine.start();
    Task lost = engine.claimOne(first);
    engine.report(stepDone(lost.claim(), "charge", "\"first\""));
    Task held = lose(lost, Loss.LEASE_EXPIRED);
    acknowledge(held);
    String before = stored.everythingOf(run);

    ReportResult ofHolder = engine.report(stepFailed(held.claim(), "charge", 1, null));
    ReportResult ofLoser = engine.report(stepFailed(lost.claim(), "charge", 1, null));

    assertThat(ofHolder).isEqualTo(recorded("charge", "\"first\""));
    assertThat(ofLoser).isEqualTo(new ReportResult.ClaimLost(RunStatus.RUNNING));
    assertThat(stored.everythingOf(run)).isEqualTo(before);
  }

  private static ReportResult recorded(String step, String output) {
    return new ReportResult.AlreadyRecorded(
        new RecordedStep(
            step,
            1,
            StepKind.FUNCTION,
            new RecordedStep.Result.Output(payload(output)),
            null,
            null,
            null,
            null));
  }

  /** The second report returns the stored result, with which its worker continues. */
  @Test
  void the_second_result_of_a_step_returns_the_first() {
    RunId run = engine.start();
    Task lost = engine.claimOne(first);
    engine.report(stepDone(lost.claim(), "charge", "\"first\""));
    Task held = lose(lost, Loss.LEASE_EXPIRED);
    engine.report(stepDone(held.claim(), "other", "0"));
    acknowledge(held);
    String before = stored.everythingOf(run);

    ReportResult alone = engine.report(stepDone(held.claim(), "charge", "\"second\""));
    ReportResult withInput =
        engine.report(
            TestReports.done(
                held.claim(), "charge", 1, StepKind.FUNCTION, payload("1"), payload("2"), 1));
    String unchanged = stored.everythingOf(run);
    List<ReportResult> together =
        engine.report(
            List.of(
                stepDone(held.claim(), "next", "1"),
                stepDone(held.claim(), "charge", "\"third\""),
                stepDone(held.claim(), "last", "2")));

    assertThat(alone).isEqualTo(recorded("charge", "\"first\""));
    assertThat(withInput).isEqualTo(recorded("charge", "\"first\""));
    assertThat(unchanged).isEqualTo(before);
    assertThat(together)
        .containsExactly(
            new ReportResult.Accepted(RunStatus.RUNNING),
            recorded("charge", "\"first\""),
            new ReportResult.Accepted(RunStatus.RUNNING));
  }

  @Test
  void a_last_step_with_a_recorded_result_returns_it_although_the_run_completes() {
    RunId run = engine.start();
    Task lost = engine.claimOne(first);
    engine.report(stepDone(lost.claim(), "charge", "\"first\""));
    Task held = lose(lost, Loss.DEREGISTERED);

    List<ReportResult> results =
        engine.report(
            List.of(stepDone(held.claim(), "charge", "\"second\""), done(held.claim(), "\"end\"")));

    assertThat(results)
        .containsExactly(
            recorded("charge", "\"first\""), new ReportResult.Accepted(RunStatus.COMPLETED));
    assertThat(engine.run(run).output()).isEqualTo(payload("\"end\""));
  }

  /** For simple clients: a repeated result is no error and changes nothing. */
  @Test
  void a_simple_client_that_completes_a_step_twice_keeps_the_first_result() {
    RunId run = engine.start();
    engine.claimOne(first);
    StepRef step = begin(run, "charge").ref();
    Reports reports = engine.engine().reports();
    await(reports.completeStep(NAMESPACE, step, payload("1"), Caller.UNKNOWN));
    String before = stored.everythingOf(run);

    await(reports.completeStep(NAMESPACE, step, payload("2"), Caller.UNKNOWN));
    BegunStep again = begin(run, "charge");

    assertThat(stored.everythingOf(run)).isEqualTo(before);
    assertThat(again).isEqualTo(new BegunStep(step, false, payload("1")));
    assertThatThrownBy(
            () -> await(reports.failStep(NAMESPACE, step, failure("too late"), Caller.UNKNOWN)))
        .hasMessageContaining("COMPLETED");
    assertThat(stored.everythingOf(run)).isEqualTo(before);
  }

  /** A late failure of a step does not reset a run that another worker holds. */
  @Test
  void a_late_failure_does_not_reset_the_run_of_another_worker() {
    RunId run = engine.start();
    Task lost = engine.claimOne(first);
    StepRef step = begin(run, "charge").ref();
    Task held = lose(lost, Loss.WORKER_GONE);
    StepRef stepAgain = begin(run, "charge").ref();
    String before = stored.everythingOf(run);

    assertClaimLost(
        engine.engine().reports().failStep(NAMESPACE, step, failure("late"), Caller.UNKNOWN));

    assertThat(stored.everythingOf(run)).isEqualTo(before);
    // A crash does not count: the interrupted attempt keeps its number.
    assertThat(stepAgain).isEqualTo(new StepRef(run, "charge", 1, 2));
    assertThat(engine.run(run).workerId()).isEqualTo(second);
    assertThat(held.claim().epoch()).isEqualTo(2);
  }

  /** A report that is in flight while another worker claims the run. */
  enum Late {
    LONE_STEP,
    STEPS_IN_A_BATCH,
    LONE_END,
    STEP_AND_END;

    List<Report> reports(Claim claim) {
      return switch (this) {
        case LONE_STEP -> List.of(stepDone(claim, "a", "1"));
        case STEPS_IN_A_BATCH ->
            List.of(stepDone(claim, "a", "1"), stepDone(claim, "b", "1"), sleep(claim, "c", 0));
        case LONE_END -> List.of(done(claim, "1"));
        case STEP_AND_END -> List.of(stepDone(claim, "a", "1"), done(claim, "1"));
      };
    }
  }

  /**
   * The report locks the row of the run, so it waits for the claim and sees the new epoch. A join
   * would compare the epoch of its own, older snapshot.
   */
  @ParameterizedTest
  @EnumSource(Late.class)
  void a_report_waits_for_a_concurrent_claim_and_is_then_lost(Late late) throws Exception {
    RunId run = engine.start();
    Task lost = engine.claimOne(first);
    stored.expireLease(run);

    CompletableFuture<List<ReportResult>> reported;
    Poll poll;
    try (Holds.Hold claim = holds.commitAfter(CLAIM)) {
      poll = engine.poll(second, 1);
      claim.awaitReached();
      reported = engine.engine().reports().accept(NAMESPACE, late.reports(lost.claim()));
      Awaitility.await().until(() -> reported.isDone() || stored.somebodyWaitsForALock());
      assertThat(reported).isNotDone();
    }

    assertThat(await(reported)).containsOnly(new ReportResult.ClaimLost(RunStatus.RUNNING));
    Task held = await(poll.tasks()).get(0);
    assertThat(held.claim()).isEqualTo(new Claim(run, 2));
    assertThat(held.steps()).isEmpty();
    assertThat(
            stored.count(
                "SELECT count(*) AS value FROM kagzi.step_runs WHERE run_id = '" + run + "'"))
        .isZero();
  }

  /**
   * The reverse: claim queries skip the run while the batch has locked it, so a claim cannot miss
   * the results of the batch.
   */
  @Test
  void a_batch_in_progress_keeps_its_runs_from_being_claimed() throws Exception {
    RunId run = engine.start();
    Task lost = engine.claimOne(first);
    stored.expireLease(run);
    long rounds = engine.engine().metrics().dispatch().claimRounds();

    CompletableFuture<List<ReportResult>> reported;
    Poll poll;
    try (Holds.Hold batch = holds.commitAfter(BATCH_LOCK)) {
      reported =
          engine
              .engine()
              .reports()
              .accept(
                  NAMESPACE,
                  List.of(stepDone(lost.claim(), "a", "1"), stepDone(lost.claim(), "b", "2")));
      batch.awaitReached();
      poll = engine.poll(second, 1);
      Awaitility.await()
          .until(
              () ->
                  poll.tasks().isDone()
                      || engine.engine().metrics().dispatch().claimRounds() > rounds + 2);
      assertThat(poll.tasks()).isNotDone();
    }

    assertThat(await(reported)).containsOnly(new ReportResult.Accepted(RunStatus.RUNNING));
    assertThat(await(poll.tasks()).get(0).steps())
        .extracting(RecordedStep::stepKey)
        .containsExactly("a", "b");
  }

  /** The same for the statement that records a single result; PostgreSQL holds its commit. */
  @Test
  void a_single_result_in_progress_keeps_its_run_from_being_claimed() throws Exception {
    RunId run = engine.start();
    Task lost = engine.claimOne(first);
    stored.expireLease(run);
    long rounds = engine.engine().metrics().dispatch().claimRounds();
    database.execute(
        "CREATE FUNCTION kagzi.hold_step() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            + Valve.WAIT
            + " RETURN NEW; END $$");
    database.execute(
        "CREATE TRIGGER hold_step BEFORE INSERT ON kagzi.step_runs"
            + " FOR EACH ROW EXECUTE FUNCTION kagzi.hold_step()");

    CompletableFuture<List<ReportResult>> reported;
    Poll poll;
    try (Valve valve = new Valve(database)) {
      reported =
          engine.engine().reports().accept(NAMESPACE, List.of(stepDone(lost.claim(), "a", "1")));
      valve.awaitSomebodyWaiting();
      poll = engine.poll(second, 1);
      Awaitility.await()
          .until(
              () ->
                  poll.tasks().isDone()
                      || engine.engine().metrics().dispatch().claimRounds() > rounds + 2);
      assertThat(poll.tasks()).isNotDone();
    } finally {
      database.execute("DROP FUNCTION kagzi.hold_step CASCADE");
    }

    assertThat(await(reported)).containsOnly(new ReportResult.Accepted(RunStatus.RUNNING));
    assertThat(await(poll.tasks()).get(0).steps())
        .extracting(RecordedStep::stepKey)
        .containsExactly("a");
  }

  /**
   * The claim statement reads a snapshot from when it began. A step that is acknowledged after that
   * moment, but before the claim locks the run, is visible only to a later statement.
   */
  @Test
  void a_step_acknowledged_during_the_claim_is_in_the_history() throws Exception {
    RunId run = engine.start();
    Task lost = engine.claimOne(first);
    stored.expireLease(run);
    Valve.inClockOf(database, CLAIM);

    ReportResult acknowledged;
    Poll poll;
    try (Valve valve = new Valve(database)) {
      poll = engine.poll(second, 1);
      valve.awaitSomebodyWaiting();
      acknowledged = engine.report(stepDone(lost.claim(), "charge", "7"));
    } finally {
      new TestClock(database).reset();
    }

    assertThat(acknowledged).isEqualTo(new ReportResult.Accepted(RunStatus.RUNNING));
    Task held = await(poll.tasks()).get(0);
    assertThat(held.claim()).isEqualTo(new Claim(run, 2));
    assertThat(held.steps()).extracting(RecordedStep::stepKey).containsExactly("charge");
  }
}
