package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.WorkflowType;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class DevDemoTest {

  @TempDir Path folder;

  @Test
  void the_demo_has_something_to_find_on_the_dashboard_and_its_runs_end() throws Exception {
    try (DevProcess dev = DevProcess.start(folder, "--port", "0", "--demo");
        Kagzi kagzi = dev.connect();
        HttpClient http = HttpClient.newHttpClient()) {
      URI uri = URI.create("http://localhost:" + dev.httpPort() + "/");
      HttpRequest request = HttpRequest.newBuilder(uri).header("Accept", "text/html").build();

      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () ->
                  assertThat(http.send(request, BodyHandlers.ofString()).body())
                      .contains("Queue reports has no worker online")
                      .contains("1 run is blocked")
                      .contains("count-stock"));
      awaitCompleted(kagzi, Demo.PROCESS_ORDER);
      awaitCompleted(kagzi, Demo.SHIP_LARGE_ORDER);
      dev.terminate();

      assertThat(dev.awaitExit()).isZero();
    }
  }

  private static void awaitCompleted(Kagzi kagzi, WorkflowType<?, ?> type) {
    await()
        .atMost(Duration.ofSeconds(60))
        .until(
            () ->
                kagzi.list().type(type).status(RunStatus.COMPLETED).stream().findAny().isPresent());
  }
}
