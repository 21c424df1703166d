package dev.kagzi.engine.worker;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.stepDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.Stored;
import dev.kagzi.engine.TestClock;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestOptions;
import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.run.BegunStep;
import dev.kagzi.engine.run.Caller;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import java.util.ArrayList;
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

/** How long a claim lasts, and what happens when its lease ends. */
class LeaseTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final long LEASE_MS = 60_000;
  private static final long FIRST_LEASE_MS = 6_000;

  private final Stored stored = new Stored(database);
  private final TestClock clock = new TestClock(database);
  private Duration ahead = Duration.ZERO;
  private TestEngine engine;
  private WorkerId worker;
  private WorkerId other;

  @BeforeEach
  void open(TestInfo test) {
    Duration never = Duration.ofHours(1);
    EngineConfig config =
        EngineConfig.defaults()
            .withWorkers(
                new WorkerConfig(Duration.ofSeconds(3), Duration.ofMillis(LEASE_MS), never, never))
            .withDispatch(
                DispatchConfig.defaults()
                    .withFirstLease(Duration.ofMillis(FIRST_LEASE_MS))
                    .withFallbackInterval(Duration.ofMillis(100)));
    engine =
        TestEngine.start(database.config(), test.getTestMethod().orElseThrow().getName(), config);
    worker = engine.register();
    other = engine.register();
  }

  @AfterEach
  void close() {
    clock.reset();
    engine.close();
  }

  private HeartbeatResult heartbeat(WorkerId who, @Nullable List<Claim> claims) {
    return await(
        engine
            .engine()
            .workers()
            .heartbeat(new WorkerHeartbeat(who, claims, null, 0, 0, null, 0, 0)));
  }

  private void leaveOnLease(RunId run, Duration left) {
    database.execute(
        "UPDATE kagzi.workflow_runs SET available_at = kagzi.clock() + interval '"
            + left.toMillis()
            + " milliseconds' WHERE run_id = '"
            + run
            + "'");
  }

  /** Every heartbeat sets the lease to now plus its length; a long run does not accumulate time. */
  @Test
  void a_heartbeat_sets_the_lease_and_never_adds_to_it() {
    RunId run = engine.start();
    List<Claim> claims = List.of(engine.claimOne(worker).claim());
    double first = stored.dueMs(run);

    heartbeat(worker, claims);
    double renewed = stored.dueMs(run);
    for (int minute = 1; minute <= 5; minute++) {
      clock.ahead(Duration.ofSeconds(40L * minute));
      heartbeat(worker, claims);
    }

    assertThat(first).isBetween(FIRST_LEASE_MS - 5_000.0, (double) FIRST_LEASE_MS);
    assertThat(renewed).isBetween(LEASE_MS - 5_000.0, (double) LEASE_MS);
    assertThat(stored.dueMs(run)).isBetween(LEASE_MS - 5_000.0, (double) LEASE_MS);
  }

  @Test
  void a_lease_with_more_than_half_left_is_not_written_again() {
    RunId run = engine.start();
    List<Claim> claims = List.of(engine.claimOne(worker).claim());
    leaveOnLease(run, Duration.ofSeconds(45));
    String before = stored.everythingOf(run);

    heartbeat(worker, claims);
    String half = stored.everythingOf(run);
    leaveOnLease(run, Duration.ofSeconds(29));
    heartbeat(worker, claims);

    assertThat(half).isEqualTo(before);
    assertThat(stored.dueMs(run)).isBetween(LEASE_MS - 5_000.0, (double) LEASE_MS);
  }

  /** One locked run must not delay the renewals of others, and must be renewed itself. */
  @Test
  void a_locked_run_does_not_delay_other_renewals_and_is_renewed_once_it_is_unlocked()
      throws Exception {
    List<RunId> runs = List.of(engine.start(), engine.start(), engine.start());
    Claim locked = engine.claimOne(worker).claim();
    Claim beside = engine.claimOne(worker).claim();
    Claim foreign = engine.claimOne(other).claim();
    runs.forEach(run -> leaveOnLease(run, Duration.ofSeconds(20)));
    Duration soon = Duration.ofSeconds(2);

    try (Session holder = database.open().open("holder")) {
      holder.query("SET idle_in_transaction_session_timeout = 0").execute();
      holder.inTransaction(
          tx -> {
            tx.query("SELECT FROM kagzi.workflow_runs WHERE run_id = ? FOR UPDATE")
                .bind(locked.runId().value())
                .execute();
            for (int heartbeat = 0; heartbeat < 3; heartbeat++) {
              assertThat(heartbeatAsync(worker, List.of(locked, beside))).succeedsWithin(soon);
              assertThat(heartbeatAsync(other, List.of(foreign))).succeedsWithin(soon);
            }
            assertThat(stored.dueMs(beside.runId())).isGreaterThan(LEASE_MS - 10_000.0);
            assertThat(stored.dueMs(foreign.runId())).isGreaterThan(LEASE_MS - 10_000.0);
            assertThat(stored.dueMs(locked.runId())).isLessThan(20_000);
            return true;
          });
    }

    Awaitility.await().until(() -> stored.dueMs(locked.runId()) > LEASE_MS - 10_000);
    assertThat(engine.run(locked.runId()).epoch()).isEqualTo(locked.epoch());
  }

  /** One locked worker row must not delay the heartbeats of all others. */
  @Test
  void a_locked_worker_row_does_not_delay_other_heartbeats_and_its_own_is_accepted()
      throws Exception {
    engine.start();
    Claim claim = engine.claimOne(worker).claim();
    leaveOnLease(claim.runId(), Duration.ofSeconds(20));
    Duration soon = Duration.ofSeconds(2);
    String before = lastHeartbeat(worker);
    String otherBefore = lastHeartbeat(other);

    try (Session holder = database.open().open("holder")) {
      holder.query("SET idle_in_transaction_session_timeout = 0").execute();
      holder.inTransaction(
          tx -> {
            tx.query("SELECT FROM kagzi.workers WHERE worker_id = ? FOR UPDATE")
                .bind(worker.value())
                .execute();
            assertThat(heartbeatAsync(worker, List.of(claim)))
                .succeedsWithin(soon)
                .isEqualTo(new HeartbeatResult(false, List.of(), List.of(), List.of()));
            assertThat(heartbeatAsync(other, List.of())).succeedsWithin(soon);
            return true;
          });
    }
    String locked = lastHeartbeat(worker);
    heartbeat(worker, List.of(claim));

    assertThat(lastHeartbeat(other)).isGreaterThan(otherBefore);
    assertThat(stored.dueMs(claim.runId())).isGreaterThan(LEASE_MS - 10_000.0);
    assertThat(locked).isEqualTo(before);
    assertThat(lastHeartbeat(worker)).isGreaterThan(before);
  }

  /** Ten seconds after a worker went offline its server has released its claims or has died. */
  @Test
  void claims_with_a_long_lease_are_released_only_after_their_worker_has_long_been_offline() {
    StartOptions longLease = new TestOptions().withHeartbeatTimeoutMs(10_800_000).build();
    RunId run = engine.start(longLease);
    Claim claim = engine.claimOne(worker).claim();
    engine.start(longLease);
    Claim beside = engine.claimOne(other).claim();

    int online = engine.engine().workers().recovery().releaseOrphaned();
    offlineSince(Duration.ofMinutes(59));
    int justGone = engine.engine().workers().recovery().releaseOrphaned();
    offlineSince(Duration.ofMinutes(61));
    int longGone = engine.engine().workers().recovery().releaseOrphaned();

    assertThat(List.of(online, justGone, longGone)).containsExactly(0, 0, 1);
    assertThat(engine.claimOne(other).claim()).isEqualTo(new Claim(run, claim.epoch() + 1));
    assertThat(engine.run(run).crashes()).isEqualTo(1);
    assertThat(engine.run(beside.runId()).epoch()).isEqualTo(beside.epoch());
  }

  private void offlineSince(Duration ago) {
    database.execute(
        "UPDATE kagzi.workers SET status = 'OFFLINE', deregistered_at = kagzi.clock() - interval '"
            + ago.toSeconds()
            + " seconds' WHERE worker_id = '"
            + worker
            + "'");
  }

  private String lastHeartbeat(WorkerId who) {
    return stored.text(
        "SELECT to_char(last_heartbeat_at, 'YYYY-MM-DD HH24:MI:SS.US') AS value"
            + " FROM kagzi.workers WHERE worker_id = '"
            + who
            + "'");
  }

  private CompletableFuture<HeartbeatResult> heartbeatAsync(WorkerId who, List<Claim> claims) {
    return engine
        .engine()
        .workers()
        .heartbeat(new WorkerHeartbeat(who, claims, null, 0, 0, null, 0, 0));
  }

  /** A worker does not renew claims that it no longer executes. */
  @Test
  void only_what_is_listed_is_renewed() {
    RunId listed = engine.start();
    Claim kept = engine.claimOne(worker).claim();
    RunId dropped = engine.start();
    engine.claimOne(worker);

    HeartbeatResult result = heartbeat(worker, List.of(kept));

    assertThat(result).isEqualTo(new HeartbeatResult(false, List.of(), List.of(), List.of()));
    assertThat(stored.dueMs(listed)).isGreaterThan(FIRST_LEASE_MS);
    assertThat(stored.dueMs(dropped)).isLessThanOrEqualTo(FIRST_LEASE_MS);
  }

  @Test
  void a_heartbeat_returns_which_claims_are_lost_and_which_are_cancelled() {
    engine.start();
    Claim held = engine.claimOne(worker).claim();
    RunId taken = engine.start();
    Claim lost = engine.claimOne(worker).claim();
    stored.expireLease(taken);
    Claim now = engine.claimOne(other).claim();
    String before = stored.everythingOf(taken);
    RunId ended = engine.start();
    Claim cancelled = engine.claimOne(worker).claim();
    await(engine.engine().runs().cancel(NAMESPACE, ended));
    Claim unknown = new Claim(RunId.next(), 1);

    HeartbeatResult result = heartbeat(worker, List.of(held, lost, cancelled, unknown));

    assertThat(result.lost()).containsExactlyInAnyOrder(lost, unknown);
    assertThat(result.cancelled()).containsExactly(cancelled);
    assertThat(now).isEqualTo(new Claim(taken, 2));
    assertThat(stored.everythingOf(taken)).isEqualTo(before);
  }

  /** Clients that do not list their claims keep all of them. */
  @Test
  void a_heartbeat_without_a_list_renews_all_that_the_worker_holds() {
    RunId one = engine.start();
    RunId two = engine.start();
    RunId foreign = engine.start();
    engine.claimOne(worker);
    engine.claimOne(worker);
    engine.claimOne(other);

    HeartbeatResult result = heartbeat(worker, null);

    assertThat(result.lost()).isEmpty();
    assertThat(stored.dueMs(one)).isGreaterThan(FIRST_LEASE_MS);
    assertThat(stored.dueMs(two)).isGreaterThan(FIRST_LEASE_MS);
    assertThat(stored.dueMs(foreign)).isLessThanOrEqualTo(FIRST_LEASE_MS);
  }

  /** The answer to a poll may be lost: then no worker executes the run. */
  @Test
  void the_lease_of_a_run_about_which_its_worker_never_called_ends_later_each_time() {
    RunId run = engine.start();
    List<Long> leases = new ArrayList<>();
    for (WorkerId holder : List.of(worker, other, worker, other, worker, other)) {
      Poll poll = engine.poll(holder, 1);
      // A run that is taken over repeatedly waits in between.
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .pollInterval(Duration.ofMillis(200))
          .until(() -> poll.tasks().isDone() || !pass(Duration.ofSeconds(2)));
      assertThat(await(poll.tasks())).hasSize(1);
      for (int heartbeats = 0; heartbeats < 200 && stored.dueMs(run) > 0; heartbeats++) {
        heartbeat(holder, null);
        assertThat(pass(Duration.ofSeconds(5))).isTrue();
      }
      leases.add(
          stored.count(
              "SELECT (extract(epoch FROM available_at - claimed_at) * 1000)::bigint AS value"
                  + " FROM kagzi.workflow_runs WHERE run_id = '"
                  + run
                  + "'"));
    }

    assertThat(leases).containsExactly(60_000L, 120_000L, 240_000L, 480_000L, 600_000L, 600_000L);
    assertThat(engine.run(run).status()).isEqualTo(RunStatus.RUNNING);
  }

  private boolean pass(Duration time) {
    ahead = ahead.plus(time);
    clock.ahead(ahead);
    return true;
  }

  /** Ways in which a worker shows that it has received a run. */
  enum ProofOfReceipt {
    NEW_STEP,
    RECORDED_STEP,
    REPORT,
    RECORDED_REPORT,
    REFUSED_REPORT,
    AWAITED,
    GET_HISTORY
  }

  @ParameterizedTest
  @EnumSource(ProofOfReceipt.class)
  void a_run_about_which_its_worker_has_called_is_kept_for_as_long_as_the_worker_lives(
      ProofOfReceipt proof) {
    RunId run = engine.start();
    Claim first = engine.claimOne(worker).claim();
    engine.report(stepDone(first, "done", "1"));
    engine.report(new Report.Released(first, 0, null));
    Claim claim = engine.claimOne(worker).claim();
    switch (proof) {
      case NEW_STEP -> assertThat(begin(run, "new").execute()).isTrue();
      case RECORDED_STEP -> assertThat(begin(run, "done").execute()).isFalse();
      case REPORT -> engine.report(stepDone(claim, "new", "1"));
      case RECORDED_REPORT ->
          assertThat(engine.report(stepDone(claim, "done", "1")))
              .isInstanceOf(ReportResult.AlreadyRecorded.class);
      case REFUSED_REPORT ->
          assertThat(engine.report(stepDone(claim, "new", 2, "1")))
              .isInstanceOf(ReportResult.Refused.class);
      case AWAITED ->
          assertThat(engine.report(new Report.Awaited(claim, List.of("child"), true, null, true)))
              .isInstanceOf(ReportResult.AwaitedSteps.class);
      case GET_HISTORY -> engine.engine().tasks().history(NAMESPACE, claim, page -> {});
    }

    for (int seconds = 20; seconds < 1_000; seconds += 20) {
      heartbeat(worker, null);
      clock.ahead(Duration.ofSeconds(seconds));
      assertThat(stored.dueMs(run)).isGreaterThan(0);
    }
  }

  private BegunStep begin(RunId run, String step) {
    return await(
        engine
            .engine()
            .reports()
            .begin(NAMESPACE, run, step, StepKind.FUNCTION, null, null, 0, Caller.UNKNOWN));
  }

  @Test
  void the_late_end_of_a_run_without_steps_counts_while_nobody_else_has_claimed_it() {
    RunId late = engine.start();
    engine.claimOne(worker);
    clock.ahead(Duration.ofMinutes(2));
    Caller caller = new Caller(null, null, Set.of(worker));

    assertThat(stored.dueMs(late)).isLessThan(0);
    assertThat(await(engine.engine().reports().completeRun(NAMESPACE, late, null, caller)))
        .isEqualTo(RunStatus.COMPLETED);

    RunId tooLate = engine.start();
    engine.claimOne(worker);
    clock.ahead(Duration.ofMinutes(4));
    engine.claimOne(other);

    assertThatThrownBy(
            () -> await(engine.engine().reports().completeRun(NAMESPACE, tooLate, null, caller)))
        .hasMessageContaining("claim lost");
  }

  /** The first take-over is immediate, the next consecutive one is delayed. */
  @Test
  void an_expired_lease_is_taken_over_and_the_second_in_a_row_waits() {
    RunId run = engine.start();
    engine.claimOne(worker);
    stored.expireLease(run);
    Task first = engine.claimOne(other);
    RunView afterFirst = engine.run(run);
    stored.expireLease(run);

    Poll poll = engine.poll(worker, 1);
    Awaitility.await().until(() -> engine.run(run).crashes() == 2);
    double waitMs = stored.dueMs(run);
    RunView waiting = engine.run(run);
    Task second = await(poll.tasks()).get(0);

    assertThat(first.claim()).isEqualTo(new Claim(run, 2));
    assertThat(afterFirst.crashes()).isEqualTo(1);
    assertThat(afterFirst.attempts()).isEqualTo(1);
    assertThat(waiting.status()).isEqualTo(RunStatus.PENDING);
    assertThat(waiting.workerId()).isNull();
    assertThat(waitMs).isBetween(1.0, 1_250.0);
    assertThat(second.claim().epoch()).isEqualTo(4);
    assertThat(engine.run(run).crashes()).isEqualTo(2);
  }

  @Test
  void a_recorded_step_makes_the_next_take_over_the_first_again() {
    RunId run = engine.start();
    engine.claimOne(worker);
    stored.expireLease(run);
    Task task = engine.claimOne(other);

    ReportResult recorded = engine.report(stepDone(task.claim(), "charge", "1"));
    int crashes = engine.run(run).crashes();
    stored.expireLease(run);
    Task again = engine.claimOne(worker);

    assertThat(recorded).isEqualTo(new ReportResult.Accepted(RunStatus.RUNNING));
    assertThat(crashes).isZero();
    assertThat(again.claim().epoch()).isEqualTo(3);
    assertThat(engine.run(run).crashes()).isEqualTo(1);
  }

  @Test
  void a_worker_that_dies_again_and_again_leaves_the_run_waiting() {
    RunId run = engine.start();
    engine.claimOne(worker);
    markOffline(worker);
    RunView first = engine.run(run);
    engine.claimOne(other);

    markOffline(other);
    RunView second = engine.run(run);

    assertThat(first.status()).isEqualTo(RunStatus.PENDING);
    assertThat(first.crashes()).isEqualTo(1);
    assertThat(second.crashes()).isEqualTo(2);
    assertThat(stored.dueMs(run)).isBetween(1.0, 1_250.0);
  }

  private void markOffline(WorkerId who) {
    long before = crashes();
    database.execute(
        "UPDATE kagzi.workers SET last_heartbeat_at = '2000-01-01' WHERE worker_id = '"
            + who
            + "'");
    assertThat(engine.engine().workers().recovery().releaseStale()).isEqualTo(1);
    Awaitility.await().until(() -> crashes() == before + 1);
  }

  private long crashes() {
    return stored.count(
        "SELECT max(crashes) AS value FROM kagzi.workflow_runs WHERE task_queue = '"
            + engine.queue().queue()
            + "'");
  }

  /** A release is neither a crash nor an attempt. */
  @Test
  void a_release_counts_neither_as_crash_nor_as_attempt() {
    RunId run = engine.start();
    engine.claimOne(worker);
    stored.expireLease(run);
    Task task = engine.claimOne(other);

    ReportResult released = engine.report(new Report.Released(task.claim(), 0, null));
    RunView view = engine.run(run);
    Task again = engine.claimOne(worker);

    assertThat(released).isEqualTo(new ReportResult.Accepted(RunStatus.PENDING));
    assertThat(view.crashes()).isEqualTo(1);
    assertThat(view.attempts()).isEqualTo(1);
    assertThat(again.claim().epoch()).isEqualTo(3);
  }

  /**
   * A draining worker keeps its leases until it is done; its remaining claims are released when it
   * leaves.
   */
  @Test
  void a_draining_worker_keeps_its_claims_and_gives_back_the_rest_when_it_leaves() {
    RunId finished = engine.start();
    Task task = engine.claimOne(worker);
    RunId left = engine.start();
    engine.claimOne(worker);
    await(engine.engine().workers().deregister(null, worker, true));

    HeartbeatResult heartbeat = heartbeat(worker, null);
    ReportResult done = engine.report(done(task.claim(), "1"));
    boolean gone = await(engine.engine().workers().deregister(null, worker, false));
    Task again = engine.claimOne(other);

    assertThat(heartbeat.shouldDrain()).isTrue();
    assertThat(done).isEqualTo(new ReportResult.Accepted(RunStatus.COMPLETED));
    assertThat(gone).isTrue();
    assertThat(engine.run(finished).status()).isEqualTo(RunStatus.COMPLETED);
    assertThat(again.claim()).isEqualTo(new Claim(left, 2));
    assertThat(engine.run(left).crashes()).isZero();
  }
}
