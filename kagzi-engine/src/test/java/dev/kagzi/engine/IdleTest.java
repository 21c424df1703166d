package dev.kagzi.engine;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.metrics.StatementMetrics;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The cost of an idle engine, also with runs that wait. */
class IdleTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final Duration WATCHED = Duration.ofSeconds(5);
  private static final int WAITING_RUNS = 5_000;

  private final Stored stored = new Stored(database);

  @Test
  void an_idle_engine_sends_less_than_one_statement_a_second() {
    try (TestEngine engine = start("idle")) {
      assertIdle(engine);
    }
  }

  @Test
  void runs_that_wait_for_a_signal_cost_no_statement() {
    try (TestEngine engine = start("waiting")) {
      parkRuns(engine);

      assertIdle(engine);

      assertThat(
              stored.count(
                  "SELECT count(*) AS value FROM kagzi.workflow_runs WHERE status = 'SLEEPING'"
                      + " AND locked_by IS NULL AND task_queue = 'waiting'"))
          .isEqualTo(WAITING_RUNS);
    }
  }

  private static TestEngine start(String queue) {
    // The workers of these tests send no heartbeats: they must not become stale.
    Duration never = Duration.ofHours(1);
    EngineConfig config =
        EngineConfig.defaults()
            .withWorkers(
                new WorkerConfig(Duration.ofSeconds(3), Duration.ofSeconds(60), never, never));
    return TestEngine.start(database.config(), queue, config);
  }

  /** Starts runs, and reports of each that its code waits for a signal, without a timeout. */
  private static void parkRuns(TestEngine engine) {
    List<CompletableFuture<StartResult>> starts = new ArrayList<>();
    for (int i = 0; i < WAITING_RUNS; i++) {
      starts.add(engine.engine().runs().start(engine.request("", null)));
    }
    starts.forEach(TestEngine::await);
    WorkerId worker = engine.register();
    for (int parked = 0; parked < WAITING_RUNS; ) {
      List<Task> tasks = await(engine.poll(worker, 500).tasks());
      List<Report> receives = new ArrayList<>();
      tasks.forEach(
          task -> receives.add(new Report.Receive(task.claim(), "go", "go", null, false)));
      assertThat(await(engine.engine().reports().accept(NAMESPACE, receives)))
          .containsOnly(new ReportResult.Receiving(null, false));
      parked += tasks.size();
    }
  }

  /** While twenty workers poll. */
  private static void assertIdle(TestEngine engine) {
    List<Poll> waiting = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      waiting.add(
          engine
              .engine()
              .tasks()
              .poll(
                  new PollRequest(
                      engine.queue(),
                      engine.register(),
                      List.of(new PollRequest.Wanted(TestEngine.TYPE, "", 0)),
                      10,
                      60_000)));
    }
    StatementMetrics meter = engine.engine().metrics().statements();

    // The first queries open their sessions, which is not an idle cost.
    long sent = sentWhileWatched(meter);
    for (int more = 0; more < 2 && sent >= WATCHED.toSeconds(); more++) {
      sent = sentWhileWatched(meter);
    }

    assertThat(sent).as("%s", meter.statementsBySession()).isLessThan(WATCHED.toSeconds());
    assertThat(waiting).noneMatch(poll -> poll.tasks().isDone());
  }

  private static long sentWhileWatched(StatementMetrics meter) {
    long before = meter.statements();
    Awaitility.await().pollDelay(WATCHED).until(() -> true);
    return meter.statements() - before;
  }
}
