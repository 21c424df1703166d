package dev.kagzi.cli;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.KagziException;
import dev.kagzi.sdk.RunInfo;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.WorkflowType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class DevCrashTest {

  private static final WorkflowType<String, String> NOBODY_SERVES =
      WorkflowType.of("nobody-serves", String.class, String.class);

  @TempDir Path folder;

  @Test
  void acknowledged_runs_survive_kill_9_of_server_and_postgres() throws Exception {
    Queue<String> acknowledged = new ConcurrentLinkedQueue<>();
    try (DevProcess dev = DevProcess.start(folder);
        ExecutorService starters = Executors.newFixedThreadPool(8);
        Kagzi kagzi = dev.connect()) {
      for (int i = 0; i < 8; i++) {
        starters.execute(() -> startUntilRefused(kagzi, acknowledged));
      }
      await().atMost(Duration.ofSeconds(60)).until(() -> acknowledged.size() > 500);
      ProcessHandle postgres = dev.postgres();

      dev.kill();
      postgres.destroyForcibly();

      starters.shutdown();
      assertThat(starters.awaitTermination(60, SECONDS)).isTrue();
    }

    try (DevProcess again = DevProcess.start(folder);
        Kagzi kagzi = again.connect()) {
      assertThat(acknowledged).isSubsetOf(pending(kagzi));
    }
  }

  /** Lists them: a call for each run would take long. */
  private static Set<String> pending(Kagzi kagzi) {
    return kagzi.list().status(RunStatus.PENDING).pageSize(100).stream()
        .map(RunInfo::runId)
        .collect(Collectors.toSet());
  }

  private static void startUntilRefused(Kagzi kagzi, Queue<String> acknowledged) {
    try {
      while (true) {
        acknowledged.add(kagzi.workflow(NOBODY_SERVES).start("hello").runId());
      }
    } catch (KagziException gone) {
      // The server was killed: data that it has not acknowledged does not count.
    }
  }
}
