package dev.kagzi.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.Task;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TwoServersTest {
  private static final int RUNS = 1_000;

  @Test
  void runs_started_on_one_server_reach_a_worker_on_the_other_by_notice() throws Exception {
    String database = SharedPostgres.createDatabase();
    try (TestServer here = TestServer.start(database, config -> config);
        TestServer there = TestServer.start(database, config -> config);
        BatchWorker worker = new BatchWorker(there, "far", "order")) {
      Map<String, Long> taken = new ConcurrentHashMap<>();
      CompletableFuture<Void> poller =
          CompletableFuture.runAsync(() -> takeAll(worker, taken), Thread::startVirtualThread);

      Map<String, Long> started = new HashMap<>();
      for (int i = 0; i < RUNS; i++) {
        long before = System.nanoTime();
        started.put(here.startRun("far", "order"), before);
      }
      poller.get(60, TimeUnit.SECONDS);

      assertThat(taken.keySet()).isEqualTo(started.keySet());
      long[] waits =
          started.entrySet().stream()
              .mapToLong(start -> requireNonNull(taken.get(start.getKey())) - start.getValue())
              .sorted()
              .toArray();
      assertThat(Duration.ofNanos(waits[RUNS / 2])).isLessThan(Duration.ofMillis(50));
      assertThat(there.server().engine().meter().dispatch().fallbackClaimed()).isZero();
    }
  }

  private static void takeAll(BatchWorker worker, Map<String, Long> taken) {
    while (taken.size() < RUNS) {
      List<Task> tasks = worker.poll(100);
      long now = System.nanoTime();
      tasks.forEach(task -> taken.put(task.getRunId(), now));
      worker.report(tasks.stream().map(BatchWorker::done).toArray(ReportItem.Builder[]::new));
    }
  }
}
