package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.server.KagziServer;
import dev.kagzi.server.ServerConfig;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class DevCommandTest {
  @TempDir Path folder;

  @Test
  void server_is_ready_when_the_banner_is_printed_and_stops_cleanly_on_sigterm() throws Exception {
    try (DevProcess dev = DevProcess.start(folder)) {
      assertThat(statusOf(dev, "/healthz")).isEqualTo(200);
      assertThat(statusOf(dev, "/readyz")).isEqualTo(200);
      ProcessHandle postgres = dev.postgres();

      dev.terminate();

      assertThat(dev.awaitExit()).isZero();
      assertThat(postgres.isAlive()).isFalse();
      assertThat(dev.errors()).doesNotContain("WARN").doesNotContain("ERROR");
    }
  }

  @Test
  void second_server_on_the_same_folder_is_refused_in_one_line() throws Exception {
    try (DevProcess first = DevProcess.start(folder);
        DevProcess second = DevProcess.start(folder)) {
      assertThat(second.awaitExit()).isEqualTo(1);
      assertThat(second.errors().lines())
          .singleElement()
          .asString()
          .startsWith("kagzi: data directory " + folder.toRealPath() + " is in use by process ");
      assertThat(statusOf(first, "/readyz")).isEqualTo(200);
    }
  }

  @Test
  void taken_port_is_named_in_one_line(@TempDir Path other) throws Exception {
    try (DevProcess first = DevProcess.start(folder)) {
      String taken = Integer.toString(first.grpcPort());

      try (DevProcess second = DevProcess.start(other, "--port", taken)) {
        assertThat(second.awaitExit()).isEqualTo(1);
        assertThat(second.errors().lines())
            .singleElement()
            .asString()
            .startsWith("kagzi: --port: 127.0.0.1:" + taken + " cannot be bound");
        assertThat(other).as("PostgreSQL was not even started").isEmptyDirectory();
      }
    }
  }

  @Test
  void folder_with_foreign_files_is_refused_in_one_line() throws Exception {
    Files.writeString(folder.resolve("thesis.txt"), "mine");

    try (DevProcess dev = DevProcess.start(folder)) {
      assertThat(dev.awaitExit()).isEqualTo(1);
      assertThat(dev.errors().lines())
          .singleElement()
          .asString()
          .contains("holds thesis.txt, which is not ours");
    }
  }

  @Test
  void folder_with_a_schema_of_an_older_build_is_refused_with_what_to_do() throws Exception {
    try (EmbeddedPostgres postgres = EmbeddedPostgres.builder().dataDir(folder).start()) {
      postgres.createDatabaseIfAbsent("kagzi");
      KagziServer.migrate(
          ServerConfig.builder()
              .dbUrl(postgres.jdbcUrl("kagzi"))
              .dbUser(postgres.user())
              .dbPassword(postgres.password()));
      try (Connection connection = postgres.connect("kagzi");
          Statement statement = connection.createStatement()) {
        statement.execute("UPDATE kagzi.schema_history SET checksum = 17 WHERE version = '1'");
      }
    }

    try (DevProcess dev = DevProcess.start(folder)) {
      assertThat(dev.awaitExit()).isEqualTo(1);
      assertThat(dev.errors().lines())
          .last()
          .asString()
          .startsWith("kagzi: database schema: version ")
          .contains("drop the schema kagzi or use another database")
          .endsWith(
              "; the data is in "
                  + folder.toRealPath()
                  + ", and --data-dir FOLDER starts with an empty one");
    }
  }

  private static int statusOf(DevProcess dev, String path)
      throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      URI uri = URI.create("http://localhost:" + dev.httpPort() + path);
      return client
          .send(HttpRequest.newBuilder(uri).build(), BodyHandlers.discarding())
          .statusCode();
    }
  }
}
