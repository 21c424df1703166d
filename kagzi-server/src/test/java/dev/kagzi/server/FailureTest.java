package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.StatusRuntimeException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An embedded server that loses an essential thread closes itself; the process continues. */
@Timeout(120)
class FailureTest {

  @Test
  void a_server_whose_thread_has_ended_is_not_ready_says_why_and_closes_itself() throws Exception {
    CompletableFuture<String> ready = new CompletableFuture<>();
    CompletableFuture<TestServer> started = new CompletableFuture<>();
    CompletableFuture<Throwable> reported = new CompletableFuture<>();
    try (TestServer server =
        TestServer.start(
            TestServer.createDatabase(),
            config ->
                config.onFailure(
                    why -> {
                      ready.complete(readyz(started.join()));
                      reported.complete(why);
                    }))) {
      started.complete(server);
      server.startRun("q", "t");

      endThread(server, "kagzi-lane-0");

      assertThat(reported.get()).hasMessageStartingWith("thread kagzi-lane-0 ended");
      assertThat(ready.get()).contains("not ready: failed: thread kagzi-lane-0 ended");
      assertThat(server.server().failure()).containsSame(reported.get());
      Awaitility.await()
          .atMost(java.time.Duration.ofSeconds(60))
          .untilAsserted(
              () ->
                  assertThatThrownBy(() -> server.startRun("q", "t"))
                      .isInstanceOf(StatusRuntimeException.class)
                      .hasMessageStartingWith("UNAVAILABLE"));
    }
  }

  @Test
  void a_server_that_is_closed_has_not_failed() {
    CompletableFuture<Throwable> reported = new CompletableFuture<>();
    TestServer server =
        TestServer.start(
            TestServer.createDatabase(), config -> config.onFailure(reported::complete));
    server.startRun("q", "t");

    server.close();

    assertThat(reported).isNotDone();
    assertThat(server.server().failure()).isEmpty();
  }

  private static void endThread(TestServer server, String name) {
    server.server().engine().threads().guarded(name, () -> {}).run();
  }

  private static String readyz(TestServer server) {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client
          .send(
              HttpRequest.newBuilder(
                      URI.create("http://127.0.0.1:" + server.server().httpPort() + "/readyz"))
                  .build(),
              HttpResponse.BodyHandlers.ofString())
          .body();
    } catch (java.io.IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
