package dev.kagzi.engine;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.stepDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.config.JournalConfig;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunStatus;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What callers get while PostgreSQL is unavailable, and how lanes recover. */
class DatabaseOutageTest {
  private static final String WAITING_FOR_A_LOCK =
      """
      SELECT pid FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'
      """;

  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private String queue;
  private CutProxy proxy;

  // Opened by each test as it needs it.
  @SuppressWarnings("NullAway.Init")
  private TestEngine engine;

  @BeforeEach
  void name(TestInfo test) {
    queue = test.getTestMethod().orElseThrow().getName();
    proxy = new CutProxy(database.config());
  }

  /** Only the lanes connect through the proxy. */
  private void open(Duration databasePatience) {
    open(databasePatience, "");
  }

  private void open(Duration databasePatience, String driverParameter) {
    engine =
        TestEngine.start(
            database.config(),
            queue,
            TestConfigs.withJournal(
                new JournalConfig(
                    1, 64 << 20, 8 << 20, 2_000, Duration.ofSeconds(5), databasePatience)),
            () ->
                Database.connect(
                    Thread.currentThread().getName().startsWith("kagzi-lane-")
                        ? proxy.config(driverParameter)
                        : database.config()));
    engine.start();
  }

  @AfterEach
  void close() {
    engine.close();
    proxy.close();
  }

  @Test
  void callers_are_refused_while_the_database_is_unavailable_and_the_engine_recovers() {
    open(Duration.ofMillis(300));
    List<CompletableFuture<StartResult>> starts = new ArrayList<>();

    proxy.down();
    for (int i = 0; i < 20; i++) {
      starts.add(engine.engine().runs().start(engine.request("", null)));
    }
    List<Refusal.Reason> reasons = starts.stream().map(DatabaseOutageTest::reason).toList();
    Refusal.Reason still = reason(engine.engine().runs().start(engine.request("", null)));
    proxy.up();

    assertThat(reasons).hasSize(20).containsOnly(Refusal.Reason.UNAVAILABLE);
    assertThat(still).isEqualTo(Refusal.Reason.UNAVAILABLE);
    assertThat(engine.start()).isNotNull();
    assertThat(runs()).isEqualTo(2);
  }

  @Test
  void an_outage_shorter_than_the_patience_is_not_visible_to_callers() {
    open(Duration.ofSeconds(15));
    List<CompletableFuture<StartResult>> starts = new ArrayList<>();

    proxy.down();
    for (int i = 0; i < 20; i++) {
      starts.add(engine.engine().runs().start(engine.request("", null)));
    }
    await().until(() -> proxy.turnedAway() >= 3);
    proxy.up();

    starts.forEach(TestEngine::await);
    assertThat(runs()).isEqualTo(21);
  }

  @Test
  void reports_are_refused_as_a_whole_while_the_database_is_unavailable() {
    open(Duration.ofMillis(300));
    Task task = engine.claimOne(engine.register());

    proxy.down();
    Refusal.Reason reason =
        reason(
            engine.engine().reports().accept(NAMESPACE, List.of(stepDone(task.claim(), "a", "1"))));
    proxy.up();

    assertThat(reason).isEqualTo(Refusal.Reason.UNAVAILABLE);
    assertThat(engine.report(stepDone(task.claim(), "a", "1")))
        .isEqualTo(new ReportResult.Accepted(RunStatus.RUNNING));
  }

  @Test
  void a_lane_ends_its_old_backend_before_it_sends_again() throws Exception {
    open(Duration.ofSeconds(15), "socketTimeout=2");
    Task task = engine.claimOne(engine.register());
    CompletableFuture<List<ReportResult>> answer;

    // The report waits for a lock inside PostgreSQL when its connection is stalled.
    try (Connection other = Database.connect(database.config())) {
      other.setAutoCommit(false);
      try (PreparedStatement lock =
          other.prepareStatement("SELECT 1 FROM kagzi.workflow_runs WHERE run_id = ? FOR UPDATE")) {
        lock.setObject(1, task.claim().runId().value());
        lock.execute();
      }
      answer =
          engine.engine().reports().accept(NAMESPACE, List.of(stepDone(task.claim(), "a", "1")));
      await().until(() -> waiting().size() == 1);
      int old = waiting().get(0);
      proxy.stall();
      await()
          .pollInterval(Duration.ofMillis(5))
          .until(() -> waiting().stream().anyMatch(pid -> pid != old));

      assertThat(waiting()).doesNotContain(old);
      other.rollback();
    }

    assertThat(await(answer)).containsExactly(new ReportResult.Accepted(RunStatus.RUNNING));
    assertThat(steps()).isEqualTo(1);
  }

  private static List<Integer> waiting() {
    return database.run(
        session -> session.query(WAITING_FOR_A_LOCK).list(row -> row.integer("pid")));
  }

  private long runs() {
    return number("SELECT count(*) AS n FROM kagzi.workflow_runs WHERE task_queue = '%s'");
  }

  private long steps() {
    return number(
        """
        SELECT count(*) AS n FROM kagzi.step_runs
          JOIN kagzi.workflow_runs USING (run_id) WHERE task_queue = '%s'
        """);
  }

  private long number(String sql) {
    return database.run(
        session -> session.query(sql.formatted(queue)).first(row -> row.bigint("n")).orElseThrow());
  }

  private static Refusal.Reason reason(CompletableFuture<?> answer) {
    Throwable failure = await(answer.handle((result, thrown) -> thrown));
    Throwable cause = failure.getCause() == null ? failure : failure.getCause();
    return ((Refusal) cause).reason();
  }
}
