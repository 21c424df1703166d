package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.Engine;
import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.metrics.StatementMetrics;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.WorkerHeartbeat;
import dev.kagzi.engine.worker.WorkerRegistration;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What a server with its defaults sends to PostgreSQL while one worker waits for tasks. */
class IdleServerTest {
  private static final QueueName QUEUE = new QueueName("default", "idle");
  private static final String TYPE = "order";
  private static final Duration WATCHED = Duration.ofSeconds(15);
  private static final int WATCHES_MAX = 4;

  @Test
  void an_idle_server_with_one_queue_and_one_worker_sends_less_than_one_statement_a_second()
      throws Exception {
    try (TestServer server = TestServer.start();
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor()) {
      Engine engine = server.server().engine();
      WorkerId worker = register(engine);
      timer.scheduleAtFixedRate(
          () -> engine.workers().heartbeat(heartbeat(worker)), 0, 3, TimeUnit.SECONDS);
      keepPolling(engine, worker);
      StatementMetrics meter = engine.metrics().statements();

      // The server opens its sessions first, and checks a queue that is not yet idle more often.
      long sent = sentWhileWatched(meter);
      for (int more = 1; more < WATCHES_MAX && sent >= WATCHED.toSeconds(); more++) {
        sent = sentWhileWatched(meter);
      }

      assertThat(sent).as("%s", meter.statementsBySession()).isLessThan(WATCHED.toSeconds());
      timer.shutdownNow();
    }
  }

  private static WorkerId register(Engine engine) throws Exception {
    return engine
        .workers()
        .register(
            new WorkerRegistration(
                QUEUE,
                List.of(new TypeVersion(TYPE, "")),
                true,
                "host",
                1,
                "",
                Map.of(),
                null,
                Map.of(),
                ""),
            null)
        .get(10, TimeUnit.SECONDS);
  }

  private static void keepPolling(Engine engine, WorkerId worker) {
    engine
        .tasks()
        .poll(
            new PollRequest(
                QUEUE, worker, List.of(new PollRequest.Wanted(TYPE, "", 0)), 10, 10_000))
        .tasks()
        .thenRun(() -> keepPolling(engine, worker));
  }

  private static WorkerHeartbeat heartbeat(WorkerId worker) {
    return new WorkerHeartbeat(worker, List.of(), 0, 0, 0, "default", 0, 0);
  }

  private static long sentWhileWatched(StatementMetrics meter) {
    long before = meter.statements();
    Awaitility.await().atMost(Duration.ofMinutes(1)).pollDelay(WATCHED).until(() -> true);
    return meter.statements() - before;
  }
}
