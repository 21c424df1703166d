package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.config.MemoryConfig;
import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.protocol.v1.Task;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** How many bodies of requests that answer callbacks a server holds in memory. */
class CallbackMemoryTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  // Room for callbacks: 4 MiB, that is two of these bodies and not three.
  private static final MemoryConfig MEMORY = new MemoryConfig(32L << 20);
  private static final String LARGE = "\"" + "x".repeat(3 << 19) + "\"";

  @Test
  void bodies_beyond_the_memory_for_callbacks_are_refused_and_later_accepted() throws Exception {
    try (TestServer server =
            TestServer.start(
                TestServer.createDatabase(),
                config -> config.localCallbacks("a secret").engine(engine()));
        BatchWorker worker = new BatchWorker(server, "memory", "order")) {
      server.startRun("memory", "order");
      Task task = worker.poll(1).get(0);
      String url =
          worker
              .report(CallbackCallsTest.callback(task, "payment"))
              .get(0)
              .getAlreadyRecorded()
              .getCallbackUrl();
      List<CompletableFuture<Integer>> sent;
      try (Connection sql = SharedPostgres.server().connect(server.database())) {
        sql.setAutoCommit(false);
        // While the run is locked, no answer is stored, and the server holds what was sent.
        sql.createStatement()
            .execute(
                "SELECT 1 FROM kagzi.workflow_runs WHERE run_id = '%s' FOR UPDATE"
                    .formatted(task.getRunId()));
        sent = Stream.generate(() -> post(url)).limit(3).toList();

        assertThat(CompletableFuture.anyOf(sent.toArray(CompletableFuture<?>[]::new)))
            .succeedsWithin(SOON)
            .isEqualTo(503);
        sql.rollback();
      }

      assertThat(sent).allSatisfy(each -> assertThat(each.join()).isIn(200, 503));
      assertThat(post(url).join()).isEqualTo(200);
    }
  }

  private static CompletableFuture<Integer> post(String url) {
    return CLIENT
        .sendAsync(
            HttpRequest.newBuilder(URI.create(url))
                .POST(HttpRequest.BodyPublishers.ofString(LARGE))
                .build(),
            HttpResponse.BodyHandlers.discarding())
        .thenApply(HttpResponse::statusCode);
  }

  private static EngineConfig engine() {
    EngineConfig usual = EngineConfig.defaults();
    return new EngineConfig(
        usual.journal(),
        usual.dispatch(),
        usual.workers(),
        usual.rules(),
        usual.limits(),
        usual.coordinatorInterval(),
        usual.autoCreateNamespaces(),
        usual.retention(),
        usual.schedules(),
        MEMORY,
        usual.notifier());
  }
}
