package dev.kagzi.engine;

import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.stepDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.run.Caller;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.WorkerId;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A standby that lacks the last commits is promoted while servers and workers live on. Two engines
 * are two servers: what one of them holds in memory is unknown to the other.
 */
class LostCommitsTest {
  /** Commits of lanes: chores write too, and may wait as well. */
  private static final String WAITING_SQL =
      """
      SELECT pid FROM pg_stat_activity
       WHERE wait_event = 'SyncRep' AND (query = 'COMMIT' OR query LIKE '%kagzi.workflow_runs%')
      """;

  private static final String NAMES_SET_SQL =
      "SELECT (current_setting('synchronous_standby_names') <> '')::int";
  private static final String IDENTITY_SQL =
      """
      SELECT s.system_identifier::text || '/'
               || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) || '/'
               || 'kagzi.database_generation'::regclass::oid::text
        FROM pg_control_system() AS s
      """;
  private static final Duration LONG = Duration.ofMinutes(1);

  /** Workers of these tests send no heartbeats. */
  private static final EngineConfig PATIENT =
      EngineConfig.defaults()
          .withWorkers(new WorkerConfig(Duration.ofSeconds(3), LONG, LONG, LONG))
          .withDispatch(DispatchConfig.defaults().withFirstLease(LONG));

  @TempDir Path folder;

  private RestoredPostgres postgres;
  private Holds connections;
  private TestEngine one;
  private TestEngine other;
  private WorkerId first;
  private WorkerId second;

  @BeforeEach
  void open() {
    postgres = new RestoredPostgres(folder);
    connections = new Holds(postgres.config());
    one = TestEngine.start(postgres.config(), "q", PATIENT, connections);
    other = TestEngine.start(postgres.config(), "q", PATIENT);
    first = one.register();
    second = other.register();
  }

  @AfterEach
  void close() {
    other.close();
    one.close();
    postgres.close();
  }

  @Test
  void a_claim_that_was_lost_is_not_valid_for_the_claim_that_is_given_instead() throws Exception {
    RunId run = one.start();
    save();
    Task lost = one.claimOne(first);
    loseCommitsSinceSave();

    Task given = other.claimOne(second);
    ReportResult late = one.report(stepDone(lost.claim(), "a", "1"));
    ReportResult lateEnd = one.report(done(lost.claim(), "1"));

    assertThat(given.claim().runId()).isEqualTo(run);
    assertThat(late).isInstanceOf(ReportResult.ClaimLost.class);
    assertThat(lateEnd).isInstanceOf(ReportResult.ClaimLost.class);
    assertThat(given.claim().epoch()).isGreaterThan(lost.claim().epoch());
    assertThat(other.report(done(given.claim(), "2")))
        .isEqualTo(new ReportResult.Accepted(RunStatus.COMPLETED));
  }

  @Test
  void a_worker_whose_reports_were_lost_loses_its_claim_at_once_and_without_a_crash()
      throws Exception {
    RunId run = one.start();
    Task before = one.claimOne(first);
    one.report(stepDone(before.claim(), "kept", "1"));
    save();
    one.report(stepDone(before.claim(), "lost", "2"));
    loseCommitsSinceSave();

    ReportResult next = one.report(stepDone(before.claim(), "next", "3"));
    Task given = other.claimOne(second);

    assertThat(next).isInstanceOf(ReportResult.ClaimLost.class);
    assertThat(given.claim().runId()).isEqualTo(run);
    assertThat(given.steps()).extracting(step -> step.stepKey()).containsExactly("kept");
    assertThat(one.run(run).crashes()).isZero();
    assertThat(given.claim().epoch()).isGreaterThan(before.claim().epoch());
  }

  @Test
  void a_start_that_was_lost_and_is_repeated_has_another_claim() throws Exception {
    RunId run = RunId.next();
    save();
    one.settle(first);
    Poll waiting = one.poll(first, 1);
    await(one.engine().runs().start(one.request("", run)));
    Task lost = await(waiting.tasks()).getFirst();
    loseCommitsSinceSave();

    other.settle(second);
    Poll again = other.poll(second, 1);
    long handedOver = other.engine().metrics().dispatch().handedOver();
    await(other.engine().runs().start(other.request("", run)));
    Task given = await(again.tasks()).getFirst();
    ReportResult late = one.report(done(lost.claim(), "1"));

    assertThat(other.engine().metrics().dispatch().handedOver()).isEqualTo(handedOver + 1);
    assertThat(given.claim().runId()).isEqualTo(run).isEqualTo(lost.claim().runId());
    assertThat(late).isInstanceOf(ReportResult.ClaimLost.class);
    assertThat(other.report(done(given.claim(), "2")))
        .isEqualTo(new ReportResult.Accepted(RunStatus.COMPLETED));
  }

  @Test
  void a_simple_client_whose_claim_was_lost_is_not_taken_for_the_holder() throws Exception {
    RunId run = one.start();
    save();
    pollSimple(one, first);
    loseCommitsSinceSave();
    pollSimple(other, second);

    CompletableFuture<?> late = begin(one, run, first);

    assertThat(late).failsWithin(LONG).withThrowableThat().withMessageContaining("claim lost");
    assertThat(begin(other, run, second)).succeedsWithin(LONG);
  }

  private static void pollSimple(TestEngine engine, WorkerId worker) {
    List<String> types = List.of(TestEngine.TYPE);
    Poll poll = engine.engine().tasks().pollOne(engine.queue(), worker, types, 10_000);
    assertThat(await(poll.tasks())).hasSize(1);
  }

  private static CompletableFuture<?> begin(TestEngine engine, RunId run, WorkerId worker) {
    Caller caller = new Caller(null, null, Set.of(worker));
    return engine
        .engine()
        .reports()
        .begin(TestEngine.NAMESPACE, run, "pay", StepKind.FUNCTION, null, null, 0, caller);
  }

  @Test
  void an_end_that_was_lost_is_not_answered_from_memory() throws Exception {
    RunId run = one.start();
    Task before = one.claimOne(first);
    save();
    one.report(done(before.claim(), "1"));
    assertThat(await(one.end(run))).map(RunEnd::output).contains(payload("1"));
    loseCommitsSinceSave();

    CompletableFuture<Optional<RunEnd>> end = one.end(run);
    other.report(done(other.claimOne(second).claim(), "2"));

    assertThat(await(end)).map(RunEnd::output).contains(payload("2"));
  }

  @Test
  void claims_increase_also_after_several_losses_and_new_runs_read_no_history() throws Exception {
    RunId run = one.start();
    save();
    loseCommitsSinceSave();
    Task once = one.claimOne(first);
    // The second generation is lost as well; the servers remember that it has begun.
    loseCommitsSinceSave();
    Task twice = other.claimOne(second);
    other.report(done(twice.claim(), "2"));
    RunId fresh = other.start();
    Task firstClaim = other.claimOne(second);

    assertThat(twice.claim().runId()).isEqualTo(run);
    assertThat(twice.claim().epoch()).isGreaterThan(once.claim().epoch());
    assertThat(firstClaim.claim().runId()).isEqualTo(fresh);
    assertThat(firstClaim.claim().isFirst()).isTrue();
    assertThat(one.report(done(once.claim(), "1"))).isInstanceOf(ReportResult.ClaimLost.class);
  }

  /**
   * The first new primary is lost too. A server that has not seen it is the first on the second.
   */
  @Test
  void a_generation_with_the_number_of_a_lost_one_is_not_taken_for_it() throws Exception {
    RunId run = one.start();
    save();
    other.close();
    postgres.loseCommitsSinceSave();
    awaitConnected(one);
    Task lost = one.claimOne(first);
    int number = generation();
    connections.refuse();
    postgres.loseCommitsSinceSave();
    other = TestEngine.start(postgres.config(), "q", PATIENT);
    WorkerId third = other.register();
    // Sessions are opened in the background; the first one begins the generation.
    await().until(() -> generation() > 0);
    // Both numbers are random.
    postgres.execute("UPDATE kagzi.database_generation SET generation = " + number);
    other.close();
    other = TestEngine.start(postgres.config(), "q", PATIENT);
    Task given = other.claimOne(third);
    assertThat(given.claim().runId()).isEqualTo(run);
    assertThat(given.claim()).isEqualTo(lost.claim());
    connections.accept();
    awaitConnected(one);

    assertThat(one.report(done(lost.claim(), "1"))).isInstanceOf(ReportResult.ClaimLost.class);
    assertThat(generation()).isGreaterThan(number);
    assertThat(other.claimOne(third).claim().epoch()).isGreaterThan(Claim.epochBase(generation()));
  }

  /** A former primary that has come back has the identity that it had before. */
  @Test
  void a_primary_of_an_earlier_generation_is_refused() throws Exception {
    one.start();
    int number = generation();
    String row =
        postgres.text(
            "SELECT format('generation = %s, identity = %L, lineage = %L', generation, identity,"
                + " lineage) FROM kagzi.database_generation");
    save();
    loseCommitsSinceSave();
    assertThat(generation()).isGreaterThan(number);

    postgres.execute("UPDATE kagzi.database_generation SET " + row);
    postgres.execute("UPDATE kagzi.database_generation SET identity = (" + IDENTITY_SQL + ")");
    connections.cut("");
    CompletableFuture<StartResult> start = one.engine().runs().start(one.request("", RunId.next()));

    assertThat(start).failsWithin(Duration.ofSeconds(20));
    assertThat(generation()).isEqualTo(number);
  }

  @Test
  void a_restored_dump_takes_all_claims() throws Exception {
    one.start();
    Task task = one.claimOne(first);

    // As pg_restore does: the table has another object id.
    postgres.execute(
        """
        ALTER TABLE kagzi.database_generation RENAME TO dumped;
        CREATE TABLE kagzi.database_generation AS SELECT * FROM kagzi.dumped;
        DROP TABLE kagzi.dumped
        """);
    postgres.restart();
    awaitBothConnected();

    assertThat(one.report(done(task.claim(), "1"))).isInstanceOf(ReportResult.ClaimLost.class);
    assertThat(other.claimOne(second).claim().epoch()).isGreaterThan(task.claim().epoch());
  }

  @Test
  void a_restart_without_a_new_timeline_takes_no_claim() throws Exception {
    one.start();
    Task task = one.claimOne(first);
    one.report(stepDone(task.claim(), "a", "1"));

    postgres.restart();
    awaitBothConnected();

    assertThat(one.report(stepDone(task.claim(), "b", "2")))
        .isEqualTo(new ReportResult.Accepted(RunStatus.RUNNING));
    assertThat(task.claim().epoch()).isEqualTo(1);
  }

  /**
   * The commit of a backend process that is ended while it waits for a synchronous standby is
   * visible, although the standby may not have it. A restart of PostgreSQL has the same effect.
   */
  @Test
  void an_end_that_is_sent_again_waits_for_the_synchronous_standby_too() throws Exception {
    one.start();
    Task task = one.claimOne(first);
    other.start();
    other.report(done(other.claimOne(second).claim(), "other"));
    setSynchronousStandby("'absent'");
    Report end = done(task.claim(), "1");

    CompletableFuture<List<ReportResult>> answer = accept(one, end);
    CompletableFuture<List<ReportResult>> again;
    try (Holds.Hold reconnects = connections.statement("pg_terminate_backend")) {
      Set<Integer> ended = endWaitingCommit();
      again = accept(other, end);
      reconnects.awaitReached();
      awaitWaitingForStandby(ended);
    }

    assertThat(answer).isNotDone();
    assertThat(again).isNotDone();
    setSynchronousStandby("DEFAULT");
    assertThat(await(answer)).containsExactly(new ReportResult.Accepted(RunStatus.COMPLETED));
    assertThat(await(again)).containsExactly(new ReportResult.Accepted(RunStatus.COMPLETED));
  }

  @Test
  void a_start_that_is_sent_again_waits_for_the_synchronous_standby_too() throws Exception {
    StartRequest request = one.request("", RunId.next());
    setSynchronousStandby("'absent'");

    CompletableFuture<StartResult> answer = one.engine().runs().start(request);
    Set<Integer> waiting = endWaitingCommit();
    waiting.addAll(awaitWaitingForStandby(waiting));
    CompletableFuture<StartResult> again = other.engine().runs().start(request);
    awaitWaitingForStandby(waiting);

    assertThat(answer).isNotDone();
    assertThat(again).isNotDone();
    setSynchronousStandby("DEFAULT");
    assertThat(await(answer).runId()).isEqualTo(request.runId());
    assertThat(await(again).runId()).isEqualTo(request.runId());
  }

  @Test
  void a_lane_that_loses_its_connection_does_not_make_a_waiting_commit_visible() throws Exception {
    StartRequest request = one.request("", RunId.next());
    setSynchronousStandby("'absent'");
    CompletableFuture<StartResult> answer = one.engine().runs().start(request);
    Set<Integer> waiting = awaitWaitingForStandby(Set.of());

    assertThat(connections.cut("INSERT INTO kagzi.workflow_runs")).isPositive();

    assertThat(answer).failsWithin(Duration.ofSeconds(20));
    assertThat(postgres.integers(WAITING_SQL)).containsAll(waiting);
    assertThat(postgres.integers("SELECT count(*)::int FROM kagzi.workflow_runs"))
        .containsExactly(0);
    setSynchronousStandby("DEFAULT");
    assertThat(await(one.engine().runs().start(request)).runId()).isEqualTo(request.runId());
  }

  private static CompletableFuture<List<ReportResult>> accept(TestEngine engine, Report report) {
    return engine.engine().reports().accept(TestEngine.NAMESPACE, List.of(report));
  }

  /** Ends the backend process whose commit waits for the standby. Returns its pid. */
  private Set<Integer> endWaitingCommit() throws Exception {
    Set<Integer> waiting = awaitWaitingForStandby(Set.of());
    for (int pid : waiting) {
      postgres.execute("SELECT pg_terminate_backend(" + pid + ")");
    }
    return waiting;
  }

  private void setSynchronousStandby(String name) throws Exception {
    postgres.execute("ALTER SYSTEM SET synchronous_standby_names = " + name);
    postgres.execute("SELECT pg_reload_conf()");
    await().until(() -> postgres.integers(NAMES_SET_SQL).contains(name.equals("DEFAULT") ? 0 : 1));
    // Backends wait for the standby as soon as the checkpointer has read the setting.
    postgres.execute("CHECKPOINT");
  }

  private Set<Integer> awaitWaitingForStandby(Set<Integer> others) {
    Set<Integer> found = new HashSet<>();
    await()
        .until(
            () -> {
              found.addAll(postgres.integers(WAITING_SQL));
              found.removeAll(others);
              return !found.isEmpty();
            });
    return found;
  }

  private void save() throws IOException {
    postgres.save();
    awaitBothConnected();
  }

  private void loseCommitsSinceSave() throws IOException {
    postgres.loseCommitsSinceSave();
    awaitBothConnected();
    // Each server has opened a session since.
    Claim unknown = new Claim(RunId.next(), 1);
    one.report(done(unknown, "1"));
    other.report(done(unknown, "1"));
  }

  private void awaitBothConnected() {
    awaitConnected(one);
    awaitConnected(other);
  }

  private static void awaitConnected(TestEngine engine) {
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> engine.engine().unavailableReason().isEmpty());
  }

  private int generation() throws Exception {
    return postgres.integers("SELECT generation FROM kagzi.database_generation").getFirst();
  }
}
