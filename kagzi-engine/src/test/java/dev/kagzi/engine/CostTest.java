package dev.kagzi.engine;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.stepDone;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.WatchedConnector.Sent;
import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.dispatch.ClaimRuns;
import dev.kagzi.engine.internal.run.InsertRuns;
import dev.kagzi.engine.internal.step.ClaimedHistories;
import dev.kagzi.engine.internal.step.ReadSteps;
import dev.kagzi.engine.run.BegunStep;
import dev.kagzi.engine.run.Caller;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.PublishedValue;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Counts the statements and commits that runs cost. */
class CostTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private WatchedConnector connections;
  private TestEngine engine;

  @BeforeEach
  void open(TestInfo test) {
    connections = new WatchedConnector(() -> Database.connect(database.config()));
    // Long intervals: timers must not add statements to the count.
    DispatchConfig dispatch =
        DispatchConfig.defaults()
            .withFallbackInterval(Duration.ofHours(1))
            .withFirstLease(Duration.ofMinutes(1));
    engine =
        TestEngine.start(
            database.config(),
            test.getTestMethod().orElseThrow().getName(),
            EngineConfig.defaults().withDispatch(dispatch),
            connections);
  }

  @AfterEach
  void close() {
    engine.close();
    database.forgetRuns();
  }

  @ParameterizedTest
  @MethodSource("headers")
  void a_directly_dispatched_run_costs_two_writes_and_no_claim_query(Map<String, String> headers) {
    WorkerId worker = engine.register();
    // Wait until the task queue is known to be empty: then no claim query is sent.
    engine.settle(worker);
    long rounds = engine.engine().metrics().dispatch().claimRounds();
    Poll poll = engine.poll(worker, 10);
    connections.forget();
    long writes = engine.engine().metrics().journalWrites();

    RunId run = engine.start(StartOptions.NONE.withHeaders(headers));
    Task task = await(poll.tasks()).get(0);
    ReportResult end = engine.report(done(task.claim(), "\"out\""));

    assertThat(end).isEqualTo(new ReportResult.Accepted(RunStatus.COMPLETED));
    assertThat(engine.run(run).output()).isEqualTo(payload("\"out\""));
    assertThat(task.headers()).isEqualTo(headers);
    assertThat(engine.engine().metrics().journalWrites() - writes).isEqualTo(2);
    assertThat(engine.engine().metrics().dispatch().claimRounds()).isEqualTo(rounds);
    assertThat(connections.byClaimers()).isEmpty();
    assertThat(connections.byLanes()).hasSize(2).allMatch(Sent::isCommit);
    assertThat(connections.byLanes().get(0).sql()).isEqualTo(InsertRuns.ALONE_SQL);
  }

  /** A run without headers, and one with a trace context. */
  static List<Map<String, String>> headers() {
    return List.of(
        Map.of(), Map.of("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
  }

  @Test
  void the_last_step_and_the_end_of_a_run_are_one_statement() {
    engine.start();
    Task task = engine.claimOne(engine.register());
    engine.report(stepDone(task.claim(), "first", "1"));
    connections.forget();

    List<ReportResult> answers =
        engine.report(List.of(stepDone(task.claim(), "last", "2"), done(task.claim(), "\"out\"")));

    assertThat(answers).allMatch(ReportResult.Accepted.class::isInstance);
    assertThat(connections.byLanes()).hasSize(1).allMatch(Sent::isCommit);
  }

  @Test
  void published_values_cost_a_read_and_a_write_in_the_transaction_of_another_report() {
    engine.start();
    Claim claim = engine.claimOne(engine.register()).claim();
    engine.report(stepDone(claim, "first", "1"));
    connections.forget();
    engine.report(List.of(stepDone(claim, "a", "1"), stepDone(claim, "b", "2")));
    int without = connections.byLanes().size();
    connections.forget();

    engine.report(
        List.of(
            stepDone(claim, "c", "1"),
            new Report.ValuesPublished(
                claim,
                List.of(
                    new PublishedValue("progress", "", 1, 1, payload("1")),
                    new PublishedValue("state", "", 1, 2, payload("2")))),
            stepDone(claim, "d", "2")));

    assertThat(connections.byLanes()).hasSize(without + 2);
    assertThat(connections.byLanes()).filteredOn(Sent::isCommit).hasSize(1);
  }

  /**
   * Locking a run writes to the WAL, so a commit would wait for the disk. The transaction is rolled
   * back instead.
   */
  @Test
  void a_step_that_is_begun_again_costs_two_statements_and_no_commit() {
    RunId run = engine.start();
    WorkerId worker = engine.register();
    Task task = engine.claimOne(worker);
    engine.report(stepDone(task.claim(), "first", "1"));
    // The first call about the claim records that the worker has the task.
    begin(run, worker);
    connections.forget();
    long commits = engine.engine().metrics().statements().commits();

    BegunStep begun = begin(run, worker);

    assertThat(begun.execute()).isFalse();
    assertThat(begun.cachedOutput()).isEqualTo(payload("1"));
    assertThat(connections.byLanes()).hasSize(2).noneMatch(Sent::isCommit);
    assertThat(engine.engine().metrics().statements().commits()).isEqualTo(commits);
    // The lock is released: another write can change the run.
    assertThat(engine.report(done(task.claim(), "2")))
        .isEqualTo(new ReportResult.Accepted(RunStatus.COMPLETED));
  }

  private BegunStep begin(RunId run, WorkerId worker) {
    Caller caller = new Caller(null, null, Set.of(worker));
    return await(
        engine
            .engine()
            .reports()
            .begin(NAMESPACE, run, "first", StepKind.FUNCTION, null, null, 0, caller));
  }

  @Test
  void a_run_of_five_steps_under_load_costs_less_than_a_commit() throws Exception {
    int runs = 200;
    WorkerId worker = engine.register();
    engine.start();
    engine.report(done(engine.claimOne(worker).claim(), "1"));
    long commits = engine.engine().metrics().statements().commits();

    List<StartRequest> requests = new ArrayList<>();
    for (int i = 0; i < runs; i++) {
      requests.add(engine.request("", null));
    }
    engine.engine().runs().startAll(requests);
    List<Future<?>> ends = new ArrayList<>();
    try (ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor()) {
      while (ends.size() < runs) {
        for (Task task : await(engine.poll(worker, runs).tasks())) {
          ends.add(workers.submit(() -> execute(task.claim())));
        }
      }
      for (Future<?> end : ends) {
        end.get(20, TimeUnit.SECONDS);
      }
    }

    long cost = engine.engine().metrics().statements().commits() - commits;
    assertThat(count("COMPLETED")).isEqualTo(runs + 1);
    assertThat(cost).isLessThan(runs);
  }

  /** Each step is durable before the next begins; the last one is sent with the end. */
  private void execute(Claim claim) {
    for (int step = 1; step < 5; step++) {
      engine.report(stepDone(claim, "step#" + step, "\"" + "x".repeat(100) + "\""));
    }
    List<Report> end = List.of(stepDone(claim, "step#5", "5"), done(claim, "\"out\""));
    assertThat(engine.report(end)).allMatch(ReportResult.Accepted.class::isInstance);
  }

  @Test
  void a_released_run_of_a_thousand_steps_is_replayed_with_one_poll() {
    engine.start();
    WorkerId worker = engine.register();
    Task task = engine.claimOne(worker);
    record(task.claim(), 1_000);
    engine.report(new Report.Released(task.claim(), 0, null));
    connections.forget();

    Task again = engine.claimOne(worker);

    assertReplay(again);
    assertThat(again.claim().epoch()).isEqualTo(2);
  }

  @Test
  void a_run_whose_lease_ended_is_replayed_with_one_poll_as_well() {
    RunId run = engine.start();
    WorkerId worker = engine.register();
    record(engine.claimOne(worker).claim(), 1_000);
    database.execute(
        "UPDATE kagzi.workflow_runs SET available_at = kagzi.clock() WHERE run_id = '%s'"
            .formatted(run));
    WorkerId other = engine.register();
    connections.forget();

    // Another engine, which has no timer for the lease, claims when a worker polls.
    try (TestEngine second =
        TestEngine.start(
            database.config(), engine.queue().queue(), EngineConfig.defaults(), connections)) {
      Task again = second.claimOne(other);

      assertReplay(again);
      assertThat(again.claim().runId()).isEqualTo(run);
    }
  }

  @Test
  void a_run_that_wakes_up_from_a_sleep_is_claimed_with_one_further_statement() {
    RunId run = engine.start();
    WorkerId worker = engine.register();
    Task task = engine.claimOne(worker);
    record(task.claim(), 3);
    engine.report(new Report.Sleep(task.claim(), "nap", 1_100L, null, false));
    connections.forget();

    Task again = engine.claimOne(worker);

    assertThat(again.claim().runId()).isEqualTo(run);
    assertThat(again.steps()).hasSize(4);
    assertThat(connections.byLanes()).isEmpty();
    assertThat(connections.byClaimers().stream().filter(Sent::isStatement))
        .extracting(Sent::sql)
        .containsOnlyOnce(ClaimedHistories.SHORT_SQL)
        .isSubsetOf(ClaimRuns.SQL, ClaimedHistories.SHORT_SQL, ClaimRuns.NEXT_DUE_SQL);
  }

  private void record(Claim claim, int steps) {
    List<Report> reports = new ArrayList<>();
    for (int i = 0; i < steps; i++) {
      reports.add(stepDone(claim, "step#" + i, "\"" + "x".repeat(100) + "\""));
    }
    assertThat(engine.report(reports)).allMatch(ReportResult.Accepted.class::isInstance);
  }

  private void assertReplay(Task task) {
    assertThat(task.historyApart()).isFalse();
    assertThat(task.steps()).hasSize(1_000);
    assertThat(task.steps())
        .extracting(RecordedStep::result)
        .allMatch(RecordedStep.Result.Output.class::isInstance);
    assertThat(connections.byLanes()).isEmpty();
    assertThat(connections.byClaimers().stream().filter(Sent::isStatement))
        .extracting(Sent::sql)
        .containsOnlyOnce(ClaimRuns.SQL, ReadSteps.HISTORY_SQL)
        .isSubsetOf(
            ClaimRuns.SQL,
            ClaimedHistories.SHORT_SQL,
            ReadSteps.SIZES_SQL,
            ReadSteps.HISTORY_SQL,
            ClaimRuns.NEXT_DUE_SQL);
  }

  private long count(String status) {
    return database.run(
        session ->
            session
                .query(
                    "SELECT count(*) AS n FROM kagzi.workflow_runs WHERE task_queue = ? AND status"
                        + " = ?")
                .bind(engine.queue().queue())
                .bind(status)
                .first(row -> row.bigint("n"))
                .orElseThrow());
  }
}
