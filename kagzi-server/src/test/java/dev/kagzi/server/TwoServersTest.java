package dev.kagzi.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.Task;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TwoServersTest {
  private static final int WARM_UP = 100;
  private static final int RUNS = 1_000;
  private static final Duration LIMIT = Duration.ofMillis(50);

  /**
   * Up to three rounds: a busy machine may slow one, a delay of the servers would slow all. Without
   * notifications, runs would wait for the fallback, which checks every two seconds.
   */
  @Test
  void runs_started_on_one_server_reach_a_worker_on_the_other_by_notification() throws Exception {
    String database = TestServer.createDatabase();
    try (TestServer here = TestServer.start(database, config -> config);
        TestServer there = TestServer.start(database, config -> config);
        BatchWorker worker = new BatchWorker(there, "far", "order")) {
      medianOfRound(here, worker, WARM_UP);

      Duration median = medianOfRound(here, worker, RUNS);
      for (int more = 0; more < 2 && median.compareTo(LIMIT) >= 0; more++) {
        median = medianOfRound(here, worker, RUNS);
      }

      assertThat(median).isLessThan(LIMIT);
    }
  }

  /** Measures from the start call on one server to the task at a worker of the other. */
  private static Duration medianOfRound(TestServer here, BatchWorker worker, int runs)
      throws Exception {
    Map<String, Long> taken = new ConcurrentHashMap<>();
    CompletableFuture<Void> poller =
        CompletableFuture.runAsync(() -> takeAll(worker, runs, taken), Thread::startVirtualThread);
    Map<String, Long> started = new HashMap<>();
    for (int i = 0; i < runs; i++) {
      long before = System.nanoTime();
      started.put(here.startRun("far", "order"), before);
    }
    poller.get(60, TimeUnit.SECONDS);

    assertThat(taken.keySet()).isEqualTo(started.keySet());
    return median(started, taken);
  }

  private static Duration median(Map<String, Long> started, Map<String, Long> taken) {
    long[] waits =
        started.entrySet().stream()
            .mapToLong(start -> requireNonNull(taken.get(start.getKey())) - start.getValue())
            .sorted()
            .toArray();
    return Duration.ofNanos(waits[waits.length / 2]);
  }

  /** Reports on another thread, so that only the dispatch is measured. */
  private static void takeAll(BatchWorker worker, int runs, Map<String, Long> taken) {
    long beat = System.nanoTime();
    try (ExecutorService reporters = Executors.newVirtualThreadPerTaskExecutor()) {
      while (taken.size() < runs) {
        List<Task> tasks = worker.poll(100);
        long now = System.nanoTime();
        if (now - beat > TimeUnit.SECONDS.toNanos(1)) {
          beat = now;
          reporters.submit(worker::heartbeat);
        }
        tasks.forEach(task -> taken.put(task.getRunId(), now));
        reporters.submit(
            () ->
                worker.report(
                    tasks.stream().map(BatchWorker::done).toArray(ReportItem.Builder[]::new)));
      }
    }
  }
}
