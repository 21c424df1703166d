package dev.kagzi.engine.transition;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failure;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.Holds;
import dev.kagzi.engine.Stored;
import dev.kagzi.engine.TestClock;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestOptions;
import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.retry.CrashPolicy;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.BegunStep;
import dev.kagzi.engine.run.Caller;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.Reports;
import dev.kagzi.engine.value.Claim;
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
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A simple client that lost its claim may still report the end of the run, as long as no other
 * worker has claimed it.
 */
class LateCompletionTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final String CLAIM = "WITH c AS MATERIALIZED";
  private static final String BATCH_LOCK = "status, epoch, ended_epoch, locked_by";
  private static final Duration NEVER = Duration.ofHours(1);
  private static final RetryPolicy HOURLY =
      new RetryPolicy(3, 3_600_000, 1, 3_600_000, 0, List.of(), List.of());

  private final Stored stored = new Stored(database);
  private final TestClock clock = new TestClock(database);
  private Holds holds;
  private TestEngine engine;
  private Reports reports;
  private WorkerId first;
  private WorkerId second;

  @BeforeEach
  void open(TestInfo test) {
    EngineConfig config = EngineConfig.defaults();
    // The delay of the second take-over in a row is longer than any test.
    CrashPolicy crashes = new CrashPolicy(NEVER.toMillis(), NEVER.toMillis(), 10);
    holds = new Holds(database.config());
    engine =
        TestEngine.start(
            database.config(),
            test.getDisplayName() + test.getTestMethod().orElseThrow().getName(),
            config
                .withRules(config.rules().withCrashes(crashes).withStepGraceMs(100))
                .withWorkers(
                    new WorkerConfig(Duration.ofSeconds(3), Duration.ofMinutes(1), NEVER, NEVER)),
            holds);
    reports = engine.engine().reports();
    first = engine.register();
    second = engine.register();
  }

  @AfterEach
  void close() {
    clock.reset();
    engine.close();
  }

  /** Why the worker lost its claim. */
  enum Loss {
    WORKER_GONE,
    DEREGISTERED,
    /** The second expired lease in a row: a poll finds the run and delays it. */
    LEASE_EXPIRED_AGAIN
  }

  /** The first worker loses the run, which is not claimed again. */
  private RunId loseClaim(Loss how) {
    RunId run = engine.start();
    lose(run, how);
    return run;
  }

  private void lose(RunId run, Loss how) {
    switch (how) {
      case WORKER_GONE -> {
        engine.claimOne(first);
        markOffline(first);
      }
      case DEREGISTERED -> {
        engine.claimOne(first);
        await(engine.engine().workers().deregister(null, first, false));
      }
      case LEASE_EXPIRED_AGAIN -> {
        engine.claimOne(second);
        stored.expireLease(run);
        engine.claimOne(first);
        expireAgain(run);
      }
    }
    awaitPending(run);
  }

  /** The claim query of a poll finds the run and delays it. The poll gets no task. */
  private void expireAgain(RunId run) {
    stored.expireLease(run);
    Poll poll = engine.poll(engine.register(), 1);
    awaitPending(run);
    poll.cancel();
  }

  private void markOffline(WorkerId worker) {
    database.execute(
        "UPDATE kagzi.workers SET last_heartbeat_at = '2000-01-01' WHERE worker_id = '"
            + worker
            + "'");
    assertThat(engine.engine().workers().recovery().releaseStale()).isEqualTo(1);
  }

  private void awaitPending(RunId run) {
    Awaitility.await().until(() -> engine.run(run).status() == RunStatus.PENDING);
  }

  @ParameterizedTest
  @EnumSource(Loss.class)
  void the_last_holder_completes_a_run_that_nobody_has_claimed_since(Loss how) {
    RunId run = loseClaim(how);
    CompletableFuture<?> end = engine.end(run);

    assertThat(complete(run, "1", named(first))).isEqualTo(RunStatus.COMPLETED);

    await(end);
    RunView view = engine.run(run);
    assertThat(view.status()).isEqualTo(RunStatus.COMPLETED);
    assertThat(view.output()).isEqualTo(payload("1"));
    assertThat(view.workerId()).isNull();
    assertThat(runsByStatus()).isEqualTo("COMPLETED=1");
    String after = stored.everythingOf(run);
    assertThat(complete(run, "1", named(first))).isEqualTo(RunStatus.COMPLETED);
    assertLost(() -> complete(run, "2", named(first)));
    assertLost(() -> fail(run, named(first)));
    // The next run is the only one that a poll returns.
    RunId next = engine.start();
    assertThat(engine.claimOne(engine.register()).claim().runId()).isEqualTo(next);
    assertThat(stored.everythingOf(run)).isEqualTo(after);
  }

  @ParameterizedTest
  @EnumSource(Loss.class)
  void the_last_holder_fails_a_run_that_nobody_has_claimed_since(Loss how) {
    RunId run = loseClaim(how);

    assertThat(fail(run, named(first))).isEqualTo(RunStatus.FAILED);

    assertThat(engine.error(run)).isEqualTo("no");
    assertThat(runsByStatus()).isEqualTo("FAILED=1");
    assertThat(fail(run, named(first))).isEqualTo(RunStatus.FAILED);
    assertLost(() -> complete(run, "1", named(first)));
  }

  @Test
  void a_late_failure_is_retried_by_the_policy_of_the_run() {
    RunId run = engine.start(HOURLY);
    lose(run, Loss.WORKER_GONE);

    assertThat(fail(run, named(first))).isEqualTo(RunStatus.PENDING);
    assertThat(fail(run, named(first))).isEqualTo(RunStatus.PENDING);

    assertThat(engine.run(run).attempts()).isEqualTo(2);
    assertThat(engine.run(run).crashes()).isZero();
    // The failure ended the claim, so a further report is refused.
    assertLost(() -> complete(run, "1", named(first)));
  }

  @ParameterizedTest
  @EnumSource(Loss.class)
  void only_the_last_holder_can_end_the_run(Loss how) {
    RunId run = loseClaim(how);
    String before = stored.everythingOf(run);

    assertLost(() -> complete(run, "1", named(second)));
    assertLost(() -> fail(run, named(second)));
    assertLost(() -> complete(run, "1", named(WorkerId.next())));

    assertThat(stored.everythingOf(run)).isEqualTo(before);
    assertThat(complete(run, "1", over(second, first))).isEqualTo(RunStatus.COMPLETED);
  }

  @ParameterizedTest
  @EnumSource(Loss.class)
  void over_another_connection_the_end_is_refused_if_two_workers_had_the_run(Loss how) {
    RunId run = loseClaim(how);

    if (how == Loss.LEASE_EXPIRED_AGAIN) {
      // Two workers had the run since it was PENDING: the call does not show which of them it is.
      assertLost(() -> complete(run, "1", Caller.UNKNOWN));
      assertLost(() -> complete(run, "1", over(second)));
    } else {
      assertThat(complete(run, "1", over(second))).isEqualTo(RunStatus.COMPLETED);
    }
  }

  @Test
  void a_run_with_a_single_claim_can_be_ended_over_a_new_connection() {
    RunId run = engine.start();
    engine.claimOne(second);
    markOffline(second);
    awaitPending(run);
    engine.claimOne(first);
    expireAgain(run);

    assertLost(() -> complete(run, "1", over(second)));
    assertThat(complete(run, "1", Caller.UNKNOWN)).isEqualTo(RunStatus.COMPLETED);
  }

  @ParameterizedTest
  @EnumSource(Loss.class)
  void only_the_end_of_the_run_is_accepted_late(Loss how) {
    RunId run = engine.start();
    lose(run, how);
    RunView view = engine.run(run);
    Claim claim = new Claim(run, how == Loss.LEASE_EXPIRED_AGAIN ? 2 : 1);
    String before = stored.everythingOf(run);

    assertLost(() -> begin(run, named(first)));
    assertLost(
        () ->
            await(
                reports.completeStep(
                    NAMESPACE,
                    new StepRef(run, "a", 1, claim.epoch()),
                    payload("1"),
                    named(first))));
    // A call with an epoch is refused, because its claim is over.
    assertLost(() -> complete(run, "1", Caller.ofEpoch(claim.epoch())));
    assertLost(() -> complete(run, "1", Caller.ofEpoch(view.epoch())));
    assertThat(engine.report(done(claim, "1")))
        .isEqualTo(new ReportResult.ClaimLost(RunStatus.PENDING));

    assertThat(stored.everythingOf(run)).isEqualTo(before);
  }

  @Test
  void the_steps_that_the_worker_left_open_are_closed() {
    RunId run = engine.start();
    engine.claimOne(first);
    begin(run, named(first));
    markOffline(first);
    awaitPending(run);

    assertThat(complete(run, "1", named(first))).isEqualTo(RunStatus.COMPLETED);

    assertThat(
            stored.count(
                "SELECT count(*) AS value FROM kagzi.step_runs WHERE status = 'RUNNING'"
                    + " AND run_id = '"
                    + run
                    + "'"))
        .isZero();
  }

  @Test
  void an_end_during_a_claim_is_too_late() throws Exception {
    RunId run = loseClaim(Loss.WORKER_GONE);
    CompletableFuture<RunStatus> late;
    Poll poll;
    try (Holds.Hold claim = holds.commitAfter(CLAIM)) {
      poll = engine.poll(second, 1);
      claim.awaitReached();
      late = reports.completeRun(NAMESPACE, run, payload("1"), named(first));
      Awaitility.await().until(() -> late.isDone() || stored.somebodyWaitsForALock());
      assertThat(late).isNotDone();
    }

    assertLost(() -> await(late));
    assertThat(await(poll.tasks()).get(0).claim()).isEqualTo(new Claim(run, 2));
    assertThat(engine.run(run).status()).isEqualTo(RunStatus.RUNNING);
  }

  @Test
  void an_end_in_progress_keeps_the_run_from_being_claimed() throws Exception {
    RunId run = loseClaim(Loss.WORKER_GONE);
    long rounds = engine.engine().metrics().dispatch().claimRounds();
    CompletableFuture<RunStatus> late;
    Poll poll;
    try (Holds.Hold batch = holds.commitAfter(BATCH_LOCK)) {
      late = reports.completeRun(NAMESPACE, run, payload("1"), named(first));
      batch.awaitReached();
      poll = engine.poll(second, 1);
      Awaitility.await()
          .until(() -> engine.engine().metrics().dispatch().claimRounds() > rounds + 1);
      assertThat(poll.tasks()).isNotDone();
    }

    assertThat(await(late)).isEqualTo(RunStatus.COMPLETED);
    RunId next = engine.start();
    assertThat(await(poll.tasks()).get(0).claim()).isEqualTo(new Claim(next, 1));
    assertThat(engine.run(run).epoch()).isEqualTo(1);
  }

  @Test
  void of_two_late_ends_the_second_is_compared_with_the_first() throws Exception {
    RunId run = loseClaim(Loss.WORKER_GONE);
    CompletableFuture<RunStatus> one;
    CompletableFuture<RunStatus> same;
    CompletableFuture<RunStatus> other;
    CompletableFuture<BegunStep> before;
    try (Holds.Hold batch = holds.commitAfter(BATCH_LOCK)) {
      before = reports.begin(NAMESPACE, run, "a", StepKind.FUNCTION, null, null, 0, named(first));
      batch.awaitReached();
      one = reports.completeRun(NAMESPACE, run, payload("1"), named(first));
      same = reports.completeRun(NAMESPACE, run, payload("1"), named(first));
      other = reports.completeRun(NAMESPACE, run, payload("2"), named(first));
    }

    assertLost(() -> await(before));
    assertThat(await(one)).isEqualTo(RunStatus.COMPLETED);
    assertThat(await(same)).isEqualTo(RunStatus.COMPLETED);
    assertLost(() -> await(other));
    assertThat(engine.run(run).output()).isEqualTo(payload("1"));
  }

  @Test
  void a_run_that_was_cancelled_meanwhile_stays_cancelled() {
    RunId run = loseClaim(Loss.WORKER_GONE);
    await(engine.engine().runs().cancel(NAMESPACE, run));

    assertLost(() -> complete(run, "1", named(first)));

    assertThat(engine.run(run).status()).isEqualTo(RunStatus.CANCELLED);
  }

  @Test
  void a_run_that_timed_out_meanwhile_is_not_ended_again_nor_after_it_was_resumed() {
    RunId run = engine.start(new TestOptions().withExecutionTimeoutMs(3_600_000).build());
    lose(run, Loss.WORKER_GONE);
    clock.ahead(Duration.ofHours(2));
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> engine.run(run).status() == RunStatus.TIMED_OUT);

    assertLost(() -> complete(run, "1", named(first)));
    await(engine.engine().runs().resume(NAMESPACE, run, null, false));
    assertLost(() -> complete(run, "1", named(first)));

    assertThat(engine.run(run).status()).isEqualTo(RunStatus.PENDING);
  }

  /** The server has recorded that the step failed, but the worker's code continued. */
  @Test
  void a_run_that_was_taken_because_of_a_step_timeout_cannot_be_ended_late() {
    RunId run = engine.start();
    engine.claimOne(first);
    await(reports.begin(NAMESPACE, run, "slow", StepKind.FUNCTION, null, HOURLY, 1, named(first)));
    awaitPending(run);

    assertLost(() -> complete(run, "1", named(first)));
  }

  @Test
  void reports_of_the_worker_before_the_last_one_are_lost_when_the_run_waits_again() {
    RunId run = loseClaim(Loss.WORKER_GONE);
    engine.claimOne(second);
    markOffline(second);
    awaitPending(run);

    assertLost(() -> complete(run, "1", named(first)));
    assertLost(() -> complete(run, "1", over(first)));
    assertThat(complete(run, "2", named(second))).isEqualTo(RunStatus.COMPLETED);
  }

  private RunStatus complete(RunId run, String output, Caller caller) {
    return await(reports.completeRun(NAMESPACE, run, payload(output), caller));
  }

  private RunStatus fail(RunId run, Caller caller) {
    return await(reports.failRun(NAMESPACE, run, failure("no"), caller));
  }

  private BegunStep begin(RunId run, Caller caller) {
    return await(reports.begin(NAMESPACE, run, "a", StepKind.FUNCTION, null, null, 0, caller));
  }

  private static Caller named(WorkerId worker) {
    return new Caller(null, worker, Set.of());
  }

  private static Caller over(WorkerId... connection) {
    return new Caller(null, null, Set.of(connection));
  }

  private static void assertLost(Call call) {
    assertThatThrownBy(call::make)
        .isInstanceOfSatisfying(
            Refusal.class,
            refusal -> assertThat(refusal.reason()).isEqualTo(Refusal.Reason.FAILED_PRECONDITION));
  }

  private interface Call {
    @Nullable Object make() throws Exception;
  }

  /** The counts of this test's queue. */
  private String runsByStatus() {
    return stored.text(
        """
        SELECT string_agg(n.status || '=' || n.runs, ', ' ORDER BY n.status) AS value
          FROM (SELECT s.status, sum(s.runs) AS runs
                  FROM (SELECT task_queue, to_status AS status, runs FROM kagzi.run_changes
                        UNION ALL
                        SELECT task_queue, from_status, -runs FROM kagzi.run_changes
                        UNION ALL
                        SELECT task_queue, status, runs FROM kagzi.run_counts) s
                 WHERE s.task_queue = '%s' AND s.status <> ''
                 GROUP BY s.status) n
         WHERE n.runs <> 0
        """
            .formatted(engine.queue().queue()));
  }
}
