package dev.kagzi.examples.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The packaged application, killed while orders are open. */
class ShopKillIT {
  private static final Duration SOON = Duration.ofMinutes(3);

  @TempDir Path folder;

  private final int port = freePort();

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void orders_survive_a_kill_of_the_application() throws Exception {
    try (Shop shop = new Shop()) {
      shop.send("PUT", "/orders/order-1", "{\"item\":\"lamp\",\"cents\":4200}");
      shop.send("PUT", "/orders/order-2", "{\"item\":\"piano\",\"cents\":2000000}");
      await()
          .atMost(SOON)
          .until(() -> shop.get("/orders/order-2").contains("\"bookings\":[\"reserve\"]"));
    }

    try (Shop shop = new Shop()) {
      shop.send("POST", "/orders/order-2/approval", "{\"by\":\"ann\",\"approved\":true}");

      for (String id : new String[] {"order-1", "order-2"}) {
        await()
            .atMost(SOON)
            .untilAsserted(
                () ->
                    assertThat(shop.get("/orders/" + id))
                        .contains("\"run\":\"COMPLETED\"", "\"state\":\"SHIPPED\"")
                        .contains("\"bookings\":[\"charge\",\"reserve\"]"));
      }
      assertThat(shop.get("/orders/order-2")).contains("\"approvedBy\":\"ann\"", "/runs/");
      assertThat(shop.get("/actuator/health")).contains("\"kagzi\":{", "\"orders\":\"connected");
      assertThat(shop.get("/actuator/metrics")).contains("\"kagzi.worker.runs\"");
      assertThat(shop.get("/actuator/metrics/kagzi.worker.runs")).contains("place-order");
      assertThat(shop.get("/actuator/info")).contains("place-order");
    }
  }

  /** A process of the application. Closing it kills it. */
  private final class Shop implements AutoCloseable {
    private final HttpClient http = HttpClient.newHttpClient();
    private final Process process;

    Shop() throws IOException {
      process =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-XX:TieredStopAtLevel=1",
                  "-jar",
                  System.getProperty("shop.jar"),
                  "--server.port=" + port,
                  "--kagzi.dev.data-dir=" + folder.resolve("data"),
                  "--kagzi.embedded.port=0",
                  "--kagzi.embedded.http-port=0")
              .redirectErrorStream(true)
              .redirectOutput(Redirect.appendTo(Path.of("target/shop.log").toFile()))
              .start();
      try {
        awaitWorker();
      } catch (RuntimeException | Error e) {
        process.destroyForcibly();
        throw e;
      }
    }

    private void awaitWorker() {
      await()
          .atMost(SOON)
          .pollInterval(Duration.ofMillis(200))
          .ignoreExceptions()
          .until(
              () -> {
                assertThat(process.isAlive()).isTrue();
                return get("/actuator/health").contains("\"orders\":\"connected");
              });
    }

    String get(String path) throws Exception {
      return send("GET", path, "");
    }

    String send(String method, String path, String body) throws Exception {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
              .header("Content-Type", "application/json")
              .timeout(Duration.ofSeconds(20))
              .method(method, BodyPublishers.ofString(body))
              .build();
      return http.send(request, BodyHandlers.ofString()).body();
    }

    @Override
    public void close() throws Exception {
      process.destroyForcibly().waitFor();
      http.close();
      // PostgreSQL then ends by itself. Until that it writes into the folder, which is deleted.
      await()
          .atMost(SOON)
          .until(() -> Files.notExists(folder.resolve("data/pgdata/postmaster.pid")));
    }
  }
}
