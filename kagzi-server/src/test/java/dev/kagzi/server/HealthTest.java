package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.protocol.v1.GetServerInfoRequest;
import dev.kagzi.protocol.v1.GetServerInfoResponse;
import dev.kagzi.protocol.v1.HealthCheckRequest;
import dev.kagzi.protocol.v1.ServingStatus;
import io.grpc.Status;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthGrpc;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class HealthTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  @Test
  void a_ready_server_reports_it_over_grpc_and_http() throws Exception {
    try (TestServer server = TestServer.start()) {
      assertThat(get(server.server().httpPort(), "/healthz").statusCode()).isEqualTo(200);
      assertThat(get(server.server().httpPort(), "/readyz").statusCode()).isEqualTo(200);
      assertThat(grpcHealth(server, "")).isEqualTo(HealthCheckResponse.ServingStatus.SERVING);
      assertThat(grpcHealth(server, "kagzi.v1.WorkerService"))
          .isEqualTo(HealthCheckResponse.ServingStatus.SERVING);
      assertThat(health(server, "")).isEqualTo(ServingStatus.SERVING_STATUS_SERVING);
      assertThat(health(server, "kagzi.v1.AdminService"))
          .isEqualTo(ServingStatus.SERVING_STATUS_SERVING);
      CallErrors.refused(Status.Code.NOT_FOUND, () -> health(server, "no.such.Service"));
    }
  }

  @Test
  void a_server_reports_its_version_and_features() {
    try (TestServer server = TestServer.start()) {
      GetServerInfoResponse info =
          server.admin().getServerInfo(GetServerInfoRequest.getDefaultInstance());

      assertThat(info.getVersion()).matches("\\d+\\.\\d+\\.\\d+.*");
      assertThat(info.getApiVersion()).isEqualTo("kagzi.v1");
      assertThat(info.getMinSdkVersion()).isNotEmpty();
      assertThat(info.getSupportedFeaturesList()).contains("poll-tasks", "report", "attach");
    }
  }

  @Test
  void a_server_whose_database_goes_away_is_not_ready_until_it_is_back() throws Exception {
    try (TestServer server = TestServer.start()) {
      int port = server.server().httpPort();

      allowConnections(server.database(), false);
      await().atMost(SOON).until(() -> get(port, "/readyz").statusCode() == 503);
      assertThat(get(port, "/readyz").body()).startsWith("not ready: ");
      assertThat(get(port, "/healthz").statusCode()).isEqualTo(200);
      assertThat(health(server, "")).isEqualTo(ServingStatus.SERVING_STATUS_NOT_SERVING);
      await()
          .atMost(SOON)
          .until(() -> grpcHealth(server, "") == HealthCheckResponse.ServingStatus.NOT_SERVING);

      allowConnections(server.database(), true);
      await().atMost(SOON).until(() -> get(port, "/readyz").statusCode() == 200);
      await()
          .atMost(SOON)
          .until(() -> grpcHealth(server, "") == HealthCheckResponse.ServingStatus.SERVING);
    }
  }

  @Test
  void a_server_that_waits_for_its_database_reports_it() throws Exception {
    int port = freePort();
    CompletableFuture<KagziServer> start;
    try (ServerSocket silent = new ServerSocket(0)) {
      ServerConfig config =
          ServerConfig.builder()
              .httpPort(port)
              .grpcPort(0)
              .dbUrl("jdbc:postgresql://127.0.0.1:" + silent.getLocalPort() + "/none")
              .build();
      start =
          CompletableFuture.supplyAsync(
              () -> KagziServer.start(config), Thread::startVirtualThread);

      await()
          .atMost(SOON)
          .ignoreExceptions()
          .until(() -> get(port, "/healthz").statusCode() == 200);
      HttpResponse<String> ready = get(port, "/readyz");

      assertThat(ready.statusCode()).isEqualTo(503);
      assertThat(ready.body()).contains("PostgreSQL");
    }
    assertThat(start).failsWithin(Duration.ofMinutes(1));
    await().atMost(SOON).until(() -> !answers(port));
  }

  private static HttpResponse<String> get(int port, String path) throws Exception {
    return HTTP.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).timeout(SOON).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private static boolean answers(int port) throws Exception {
    try {
      return get(port, "/healthz").statusCode() > 0;
    } catch (IOException closed) {
      return false;
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  private static HealthCheckResponse.ServingStatus grpcHealth(TestServer server, String service) {
    return HealthGrpc.newBlockingStub(server.sharedChannel())
        .check(io.grpc.health.v1.HealthCheckRequest.newBuilder().setService(service).build())
        .getStatus();
  }

  private static ServingStatus health(TestServer server, String service) {
    return server
        .admin()
        .healthCheck(HealthCheckRequest.newBuilder().setService(service).build())
        .getStatus();
  }

  private static void allowConnections(String database, boolean allow) throws Exception {
    try (Connection admin = SharedPostgres.server().connect("postgres");
        Statement statement = admin.createStatement()) {
      statement.execute("ALTER DATABASE " + database + " WITH ALLOW_CONNECTIONS " + allow);
      if (!allow) {
        statement.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"
                + database
                + "'");
      }
    }
  }
}
