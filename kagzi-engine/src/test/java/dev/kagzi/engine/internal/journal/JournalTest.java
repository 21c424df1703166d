package dev.kagzi.engine.internal.journal;

import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.sleep;
import static dev.kagzi.engine.TestEngine.stepDone;
import static dev.kagzi.engine.TestEngine.stepFailed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.TestConfigs;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestReports;
import dev.kagzi.engine.WatchedConnector;
import dev.kagzi.engine.WatchedConnector.Sent;
import dev.kagzi.engine.config.JournalConfig;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.run.InsertRuns;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Group commit, verified by the statements on the lanes' connections. */
class JournalTest {
  private static final Predicate<Sent> A_LANES_WRITE =
      sent -> sent.isByLane() && sent.isStatement();
  private static final RetryPolicy SLOWLY = new RetryPolicy(5, 60_000, 1, 60_000, 0, List.of());

  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private String queue;

  // Opened by each test as it needs it.
  @SuppressWarnings("NullAway.Init")
  private WatchedConnector connections;

  @SuppressWarnings("NullAway.Init")
  private TestEngine engine;

  @BeforeEach
  void name(TestInfo test) {
    queue = test.getTestMethod().orElseThrow().getName();
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private void open(JournalConfig journal) {
    connections = new WatchedConnector(() -> Database.connect(database.config()));
    engine =
        TestEngine.start(database.config(), queue, TestConfigs.withJournal(journal), connections);
  }

  private static JournalConfig lanes(int lanes) {
    return lanes(lanes, 2_000);
  }

  private static JournalConfig lanes(int lanes, int batchWritesMax) {
    return new JournalConfig(
        lanes, 64 << 20, 8 << 20, batchWritesMax, Duration.ofSeconds(5), Duration.ofSeconds(10));
  }

  @Test
  void starts_that_arrive_during_a_commit_share_the_next_commit() {
    open(lanes(1));
    warmUp();
    List<CompletableFuture<StartResult>> starts = new ArrayList<>();

    try (WatchedConnector.Hold hold = connections.holdNext(A_LANES_WRITE)) {
      starts.add(engine.engine().runs().start(engine.request("", null)));
      hold.awaitReached();
      for (int i = 0; i < 200; i++) {
        starts.add(engine.engine().runs().start(engine.request("", null)));
      }
      awaitWaiting(200);
    }
    starts.forEach(TestEngine::await);

    List<Sent> sent = connections.byLanes();
    assertThat(sent.stream().filter(Sent::isCommit)).hasSize(2);
    assertThat(sent.get(0).sql()).isEqualTo(InsertRuns.ALONE_SQL);
    assertOneStatementPerKind(sent.subList(1, sent.size()));
    assertThat(count("workflow_runs", "task_queue = '" + queue + "'")).isEqualTo(201 + 2);
  }

  @Test
  void with_several_lanes_each_lane_sends_one_more_commit() {
    JournalConfig config = JournalConfig.defaults();
    open(config);
    warmUp();
    List<CompletableFuture<StartResult>> starts = new ArrayList<>();
    List<WatchedConnector.Hold> holds = new ArrayList<>();

    for (int lane = 0; lane < config.lanes(); lane++) {
      String thread = "kagzi-lane-" + lane;
      holds.add(connections.holdNext(A_LANES_WRITE.and(s -> s.thread().equals(thread))));
      starts.add(engine.engine().runs().start(engine.request("", idOfLane(lane, config.lanes()))));
    }
    try {
      holds.forEach(WatchedConnector.Hold::awaitReached);
      for (int i = 0; i < 200; i++) {
        starts.add(engine.engine().runs().start(engine.request("", null)));
      }
      awaitWaiting(200);
    } finally {
      holds.forEach(WatchedConnector.Hold::close);
    }
    starts.forEach(TestEngine::await);

    for (int lane = 0; lane < config.lanes(); lane++) {
      String thread = "kagzi-lane-" + lane;
      List<Sent> sent =
          connections.byLanes().stream().filter(s -> s.thread().equals(thread)).toList();
      assertThat(sent.stream().filter(Sent::isCommit)).hasSize(2);
      assertOneStatementPerKind(sent.subList(1, sent.size()));
    }
  }

  @Test
  void writes_of_all_kinds_share_a_commit_with_one_statement_per_kind() {
    open(lanes(1));
    List<Claim> claims = claim(60);
    List<CompletableFuture<?>> answers = new ArrayList<>();

    connections.forget();
    try (WatchedConnector.Hold hold = connections.holdNext(A_LANES_WRITE)) {
      answers.add(engine.engine().runs().start(engine.request("", null)));
      hold.awaitReached();
      for (int i = 0; i < 60; i += 6) {
        answers.add(accept(stepDone(claims.get(i), "a", "1")));
        answers.add(accept(stepDone(claims.get(i + 1), "a", "1"), done(claims.get(i + 1), "2")));
        answers.add(accept(stepFailed(claims.get(i + 2), "a", 1, SLOWLY)));
        answers.add(accept(sleep(claims.get(i + 3), "nap", 60_000)));
        answers.add(accept(TestEngine.failed(claims.get(i + 4), "no")));
        answers.add(engine.engine().runs().cancel(TestEngine.NAMESPACE, claims.get(i + 5).runId()));
        answers.add(engine.engine().runs().start(engine.request("", null)));
      }
      awaitWaiting(80);
    }
    answers.forEach(TestEngine::await);

    List<Sent> sent = connections.byLanes();
    assertThat(sent.stream().filter(Sent::isCommit)).hasSize(2);
    assertOneStatementPerKind(sent.subList(1, sent.size()));
    assertThat(steps("status = 'COMPLETED' AND step_id = 'a'")).isEqualTo(20);
  }

  @Test
  void writes_of_one_run_keep_their_order_within_and_across_batches() {
    for (int batchWritesMax : new int[] {2_000, 3, 1}) {
      queue = "order-" + batchWritesMax;
      open(
          new JournalConfig(
              2, 64 << 20, 8 << 20, batchWritesMax, Duration.ofSeconds(5), Duration.ofSeconds(10)));
      List<Claim> claims = claim(20);
      List<CompletableFuture<List<ReportResult>>> answers = new ArrayList<>();

      // Each report is valid only after the previous one; the test waits for no answer.
      for (Claim claim : claims) {
        answers.add(accept(keepingClaim(claim, "a", 1)));
        answers.add(accept(keepingClaim(claim, "a", 2)));
        answers.add(accept(stepDone(claim, "a", 3, "1")));
        answers.add(accept(done(claim, "2")));
      }

      for (int i = 0; i < answers.size(); i++) {
        ReportResult answer = await(answers.get(i)).get(0);
        assertThat(answer)
            .as("answer %d with batches of %d", i, batchWritesMax)
            .isInstanceOf(
                i % 4 < 2 ? ReportResult.RetryScheduled.class : ReportResult.Accepted.class);
      }
      engine.close();
    }
  }

  @Test
  void a_refused_step_does_not_fail_the_rest_of_its_batch() {
    database.execute(
        """
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE check_violation USING MESSAGE = 'planted'; END $$
        """);
    database.execute(
        """
        CREATE TRIGGER planted BEFORE INSERT ON kagzi.step_runs
           FOR EACH ROW WHEN (NEW.output = '\\xbadbad') EXECUTE FUNCTION refuse()
        """);
    open(lanes(1));
    List<Claim> claims = claim(100);
    int bad = 57;
    CompletableFuture<StartResult> first;
    List<CompletableFuture<List<ReportResult>>> answers = new ArrayList<>();

    connections.forget();
    try (WatchedConnector.Hold hold = connections.holdNext(A_LANES_WRITE)) {
      first = engine.engine().runs().start(engine.request("", null));
      hold.awaitReached();
      for (int i = 0; i < 100; i++) {
        answers.add(accept(i == bad ? badStep(claims.get(i)) : stepDone(claims.get(i), "a", "1")));
      }
      awaitWaiting(100);
    }
    await(first);

    for (int i = 0; i < 100; i++) {
      ReportResult answer = await(answers.get(i)).get(0);
      if (i == bad) {
        assertThat(answer)
            .isInstanceOfSatisfying(
                ReportResult.Refused.class,
                refused ->
                    assertThat(refused.refusal().reason())
                        .isEqualTo(Refusal.Reason.INVALID_ARGUMENT));
      } else {
        assertThat(answer).isEqualTo(new ReportResult.Accepted(RunStatus.RUNNING));
      }
    }
    assertThat(steps("status = 'COMPLETED'")).isEqualTo(99);
    // The bad write is found by halving, not by one commit per write.
    assertThat(connections.byLanes().stream().filter(Sent::isCommit)).hasSizeLessThan(15);
    assertThat(await(accept(stepDone(claims.get(bad), "a", "1"))))
        .containsExactly(new ReportResult.Accepted(RunStatus.RUNNING));
  }

  @ParameterizedTest(name = "{0} writes in a batch")
  @ValueSource(ints = {1, 100})
  void a_run_does_not_complete_without_a_step_that_the_database_refused(int batchWritesMax) {
    database.execute(
        """
        CREATE OR REPLACE FUNCTION refuse_step() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE check_violation USING MESSAGE = 'planted'; END $$
        """);
    database.execute(
        """
        CREATE OR REPLACE TRIGGER planted_step BEFORE INSERT ON kagzi.step_runs
           FOR EACH ROW WHEN (NEW.output = '\\xbadbad') EXECUTE FUNCTION refuse_step()
        """);
    open(lanes(1, batchWritesMax));
    List<Claim> claims = claim(2);
    Claim claim = claims.getFirst();

    List<ReportResult> answers =
        await(
            accept(
                stepDone(claim, "first", "1"),
                badStep(claim),
                done(claim, "2"),
                done(claims.getLast(), "3")));

    assertThat(answers.getFirst()).isEqualTo(new ReportResult.Accepted(RunStatus.RUNNING));
    assertThat(answers.subList(1, 3)).hasOnlyElementsOfType(ReportResult.Refused.class);
    assertThat(answers.getLast()).isEqualTo(new ReportResult.Accepted(RunStatus.COMPLETED));
    assertThat(engine.run(claim.runId()).status()).isEqualTo(RunStatus.RUNNING);
  }

  @Test
  void a_refused_start_does_not_fail_the_rest_of_its_call() {
    database.execute(
        """
        CREATE FUNCTION refuse_start() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE check_violation USING MESSAGE = 'planted'; END $$
        """);
    database.execute(
        """
        CREATE TRIGGER planted_start BEFORE INSERT ON kagzi.workflow_runs
           FOR EACH ROW WHEN (NEW.external_id = 'planted start') EXECUTE FUNCTION refuse_start()
        """);
    open(JournalConfig.defaults());
    List<StartRequest> requests = new ArrayList<>();
    IntStream.range(0, 100)
        .forEach(i -> requests.add(engine.request(i == 99 ? "planted start" : "good-" + i, null)));

    List<CompletableFuture<StartResult>> answers = engine.engine().runs().startAll(requests);

    for (int i = 0; i < 99; i++) {
      assertThat(await(answers.get(i)).existed()).isFalse();
    }
    assertThat(refusal(answers.get(99)).reason()).isEqualTo(Refusal.Reason.INVALID_ARGUMENT);
    assertThat(count("workflow_runs", "task_queue = '" + queue + "'")).isEqualTo(99);
  }

  @Test
  void a_full_journal_refuses_after_a_timeout_and_recovers() {
    open(
        new JournalConfig(
            1, 20_000, 8 << 20, 2_000, Duration.ofMillis(300), Duration.ofSeconds(10)));
    warmUp();
    List<CompletableFuture<StartResult>> starts = new ArrayList<>();
    Map<Refusal.Reason, Integer> refused = new HashMap<>();

    try (WatchedConnector.Hold hold = connections.holdNext(A_LANES_WRITE)) {
      starts.add(engine.engine().runs().start(engine.request("", null)));
      hold.awaitReached();
      for (int i = 0; i < 400; i++) {
        starts.add(engine.engine().runs().start(engine.request("", null)));
      }
      // Some are refused at once, because the overflow is full; the rest wait for their timeout.
      assertThat(starts.stream().filter(CompletableFuture::isDone).count()).isLessThan(300);
      await().until(() -> starts.stream().filter(CompletableFuture::isDone).count() > 290);
    }

    int good = 0;
    for (CompletableFuture<StartResult> start : starts) {
      await(start.handle((result, failure) -> true));
      if (start.isCompletedExceptionally()) {
        refused.merge(refusal(start).reason(), 1, Integer::sum);
      } else {
        good++;
      }
    }
    assertThat(refused).containsOnlyKeys(Refusal.Reason.RESOURCE_EXHAUSTED);
    assertThat(good).isBetween(90, 110);
    assertThat(count("workflow_runs", "task_queue = '" + queue + "'")).isEqualTo(good + 2);
    assertThat(engine.start()).isNotNull();
  }

  @Test
  void writes_that_wait_for_a_full_journal_keep_their_order() {
    open(
        new JournalConfig(
            1, 1_000, 8 << 20, 2_000, Duration.ofSeconds(10), Duration.ofSeconds(10)));
    List<Claim> claims = claim(1);
    Claim claim = claims.get(0);
    List<CompletableFuture<List<ReportResult>>> answers = new ArrayList<>();

    try (WatchedConnector.Hold hold = connections.holdNext(A_LANES_WRITE)) {
      CompletableFuture<StartResult> held = engine.engine().runs().start(engine.request("", null));
      hold.awaitReached();
      while (engine.engine().metrics().journalWaiting() < 5) {
        held = engine.engine().runs().start(engine.request("", null));
      }
      assertThat(held).isNotDone();
      answers.add(accept(keepingClaim(claim, "a", 1)));
      answers.add(accept(keepingClaim(claim, "a", 2)));
      answers.add(accept(stepDone(claim, "a", 3, "1")));
    }

    assertThat(await(answers.get(0)).get(0)).isInstanceOf(ReportResult.RetryScheduled.class);
    assertThat(await(answers.get(1)).get(0)).isInstanceOf(ReportResult.RetryScheduled.class);
    assertThat(await(answers.get(2)).get(0)).isInstanceOf(ReportResult.Accepted.class);
  }

  private static Report keepingClaim(Claim claim, String step, int attempt) {
    return TestReports.failed(
        claim, step, attempt, null, TestEngine.failure("boom"), SLOWLY, true, 1);
  }

  private static Report badStep(Claim claim) {
    return TestReports.done(
        claim,
        "a",
        1,
        StepKind.FUNCTION,
        null,
        new Payload(new byte[] {(byte) 0xba, (byte) 0xdb, (byte) 0xad}, Map.of()),
        1);
  }

  private CompletableFuture<List<ReportResult>> accept(Report... reports) {
    return engine.engine().reports().accept(TestEngine.NAMESPACE, List.of(reports));
  }

  /** Opens every lane's connection and executes the statements of a first write. */
  private void warmUp() {
    int lanes = JournalConfig.defaults().lanes();
    for (int lane = 0; lane < lanes; lane++) {
      await(engine.engine().runs().start(engine.request("", idOfLane(lane, lanes))));
    }
    connections.forget();
  }

  private List<Claim> claim(int count) {
    List<StartRequest> requests = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      requests.add(engine.request("", null));
    }
    engine.engine().runs().startAll(requests).forEach(TestEngine::await);
    WorkerId worker = engine.register();
    List<Claim> claims = new ArrayList<>();
    while (claims.size() < count) {
      await(engine.poll(worker, count).tasks()).stream().map(Task::claim).forEach(claims::add);
    }
    return claims;
  }

  private void awaitWaiting(int writes) {
    await().until(() -> engine.engine().metrics().journalWaiting() == writes);
  }

  private static RunId idOfLane(int lane, int lanes) {
    RunId id = RunId.next();
    while (Math.floorMod(id.value().hashCode(), lanes) != lane) {
      id = RunId.next();
    }
    return id;
  }

  private static void assertOneStatementPerKind(List<Sent> transaction) {
    assertThat(transaction.stream().filter(Sent::isCommit)).hasSize(1);
    assertThat(transaction).extracting(Sent::sql).doesNotHaveDuplicates();
  }

  private static Refusal refusal(CompletableFuture<?> answer) {
    await(answer.handle((result, failure) -> true));
    return (Refusal) answer.exceptionNow();
  }

  private long steps(String condition) {
    return count(
        "step_runs",
        condition
            + " AND run_id IN (SELECT run_id FROM kagzi.workflow_runs WHERE task_queue = '"
            + queue
            + "')");
  }

  private long count(String table, String condition) {
    return database.run(
        session ->
            session
                .query("SELECT count(*) AS n FROM kagzi." + table + " WHERE " + condition)
                .first(row -> row.bigint("n"))
                .orElseThrow());
  }
}
