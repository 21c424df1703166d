package dev.kagzi.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.postgres.SharedPostgres;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.Test;

/** The server's class path is that of the build here; modules that use this one have the jars. */
class EmbeddedServerTest {

  private static EmbeddedServer.Builder server() {
    EmbeddedPostgres postgres = SharedPostgres.server();
    return EmbeddedServer.builder()
        .option("db-url", postgres.jdbcUrl(SharedPostgres.createDatabase()))
        .option("db-user", postgres.user())
        .option("db-password", postgres.password())
        .option("port", "0")
        .option("http-port", "0")
        .unsafeDatabase();
  }

  @Test
  void a_started_server_is_ready_at_its_ports() throws Exception {
    try (EmbeddedServer server = server().start();
        HttpClient http = HttpClient.newHttpClient()) {
      URI ready = URI.create("http://127.0.0.1:" + server.httpPort() + "/readyz");

      assertThat(http.send(HttpRequest.newBuilder(ready).build(), BodyHandlers.ofString()))
          .satisfies(response -> assertThat(response.statusCode()).isEqualTo(200));
      assertThat(server.address()).isEqualTo("127.0.0.1:" + server.grpcPort());
      assertThat(server.failure()).isEmpty();
    }
  }

  @Test
  void without_http_there_is_no_port_for_it() {
    try (EmbeddedServer server = server().withoutHttp().start()) {
      assertThat(server.httpPort()).isEqualTo(-1);
    }
  }

  @Test
  void an_option_that_no_server_has_is_refused() {
    assertThatThrownBy(() -> server().option("db-ulr", "x").start())
        .isInstanceOf(EmbeddedServerException.class)
        .hasMessage("option: db-ulr (expected: a server option of docs/reference.md)");
  }

  @Test
  void a_database_that_does_not_exist_is_named() {
    assertThatThrownBy(
            () -> server().option("db-url", SharedPostgres.server().jdbcUrl("nowhere")).start())
        .isInstanceOf(EmbeddedServerException.class)
        .hasMessageContaining("nowhere");
  }
}
