package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.WorkflowType;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code kagzi server} as a real process, on a PostgreSQL with TLS. */
@Timeout(180)
@SuppressWarnings("NullAway.Init")
class ServerCommandTest {

  private static final WorkflowType<String, String> GREET =
      WorkflowType.of("greet", String.class, String.class).queue("greetings");

  @TempDir static Path databaseFolder;
  private static EmbeddedPostgres postgres;
  private static Certificate certificate;

  @TempDir Path folder;

  @BeforeAll
  static void startPostgres() throws Exception {
    certificate = Certificate.create(databaseFolder, "database");
    // PostgreSQL requires these permissions.
    Files.setPosixFilePermissions(certificate.key(), PosixFilePermissions.fromString("rw-------"));
    postgres =
        EmbeddedPostgres.builder()
            .dataDir(databaseFolder.resolve("data"))
            .setting("ssl", "on")
            .setting("ssl_cert_file", certificate.cert().toString())
            .setting("ssl_key_file", certificate.key().toString())
            .start();
  }

  @AfterAll
  static void stopPostgres() {
    postgres.close();
  }

  @Test
  void two_servers_start_at_once_on_an_empty_database_over_tls_and_stop_cleanly() throws Exception {
    String url = url("pair") + "?sslmode=verify-full&sslrootcert=" + certificate.cert();
    try (KagziProcess one = server(Map.of("KAGZI_DB_URL", url));
        KagziProcess two = server(Map.of("KAGZI_DB_URL", url))) {
      one.awaitReady();
      two.awaitReady();

      try (Kagzi here = Kagzi.connect("localhost:" + one.grpcPort());
          Kagzi there = Kagzi.connect("localhost:" + two.grpcPort())) {
        there.worker().workflow(GREET, (ctx, name) -> "hello " + name).start();

        assertThat(here.workflow(GREET).start("you").result(Duration.ofSeconds(30)))
            .isEqualTo("hello you");
      }
      one.terminate();
      two.terminate();

      assertThat(one.awaitExit()).isZero();
      assertThat(two.awaitExit()).isZero();
    }
  }

  @Test
  void a_database_whose_certificate_is_not_trusted_is_refused_in_one_line() throws Exception {
    Certificate other = Certificate.create(folder, "other");
    String url = url("distrusted") + "?sslmode=verify-ca&sslrootcert=" + other.cert();
    try (KagziProcess server = server(Map.of("KAGZI_DB_URL", url))) {
      assertThat(server.awaitExit()).isEqualTo(1);
      assertThat(server.errors().lines())
          .singleElement()
          .asString()
          .startsWith("kagzi: database: jdbc:postgresql://127.0.0.1")
          .doesNotContain(postgres.password());
    }
  }

  @Test
  void one_role_migrates_by_command_and_another_runs_the_server() throws Exception {
    String url = url("apart");
    try (KagziProcess early = server(Map.of("KAGZI_DB_URL", url), "--migrate-on-start=false")) {
      assertThat(early.awaitExit()).isEqualTo(1);
      assertThat(early.errors()).startsWith("kagzi: database schema: none (expected: version ");
    }
    try (KagziProcess migrate =
        KagziProcess.start(folder, Map.of("KAGZI_DB_URL", url), "migrate")) {
      assertThat(migrate.output()).matches("database schema: version \\d+");
      assertThat(migrate.awaitExit()).isZero();
    }
    try (KagziProcess server = server(Map.of("KAGZI_DB_URL", url), "--migrate-on-start=false")) {
      server.awaitReady();
    }
  }

  @Test
  void every_option_is_printed_with_its_source_and_without_secrets() throws Exception {
    Files.writeString(
        folder.resolve("kagzi.properties"), "host=localhost\nport=7\nstep-grace=7s\n");
    Map<String, String> environment =
        Map.of(
            "KAGZI_DB_URL", "postgres://me:hushhush@db/kagzi",
            "KAGZI_DB_PASSWORD", "hushhush",
            "KAGZI_TOKEN", "hushhush",
            "KAGZI_SERVER_PORT", "8",
            "KAGZI_ADDRESS", "elsewhere:1");
    try (KagziProcess print =
        KagziProcess.start(folder, environment, "server", "--print-config", "--port", "9")) {
      String[] lines = print.output().split("\n");

      assertThat(print.awaitExit()).isZero();
      assertThat(lines)
          .anyMatch(line -> line.matches("host +localhost +file kagzi.properties"))
          .anyMatch(line -> line.matches("port +9 +flag --port"))
          .anyMatch(line -> line.matches("http-port +8484 +default"))
          .anyMatch(line -> line.matches("step-grace +7s +file kagzi.properties"))
          .anyMatch(line -> line.matches("token +\\(hidden\\) +env KAGZI_TOKEN"))
          .anyMatch(
              line -> line.matches("db-url +postgres://me:\\(hidden\\)@db/kagzi +env KAGZI_DB_URL"))
          .noneMatch(line -> line.contains("hushhush"));
    }
  }

  @Test
  void unknown_and_unsafe_settings_stop_the_start_with_one_line() throws Exception {
    refused(Map.of("KAGZI_DB_URI", "x"), "KAGZI_DB_URI: no such variable (expected: KAGZI_DB_URL)");
    refused(Map.of(), "--hoost: no such option (expected: --host; ", "--hoost", "x");
    refused(Map.of(), "db-url: none (expected: --db-url or KAGZI_DB_URL");
    refused(
        Map.of("KAGZI_DB_URL", "postgres://db/k"),
        "host: 0.0.0.0 can be reached by others (expected: a token",
        "--host",
        "0.0.0.0");
    refused(Map.of("KAGZI_DB_URL", "mysql://a:hushhush@db/k"), "db-url: mysql://a:(hidden)@db/k");
  }

  private void refused(Map<String, String> environment, String start, String... flags)
      throws Exception {
    String[] arguments = new String[flags.length + 1];
    arguments[0] = "server";
    System.arraycopy(flags, 0, arguments, 1, flags.length);
    try (KagziProcess server = KagziProcess.start(folder, environment, arguments)) {
      assertThat(server.awaitExit()).isEqualTo(2);
      assertThat(server.errors().lines())
          .singleElement()
          .asString()
          .startsWith("kagzi: " + start)
          .doesNotContain("hushhush");
    }
  }

  @Test
  void a_taken_port_is_named_with_its_flag() throws Exception {
    try (ServerSocket taken = new ServerSocket(0)) {
      String port = Integer.toString(taken.getLocalPort());
      Map<String, String> environment = Map.of("KAGZI_DB_URL", "postgres://127.0.0.1:1/k");
      try (KagziProcess server =
          KagziProcess.start(folder, environment, "server", "--port", "0", "--http-port", port)) {
        assertThat(server.awaitExit()).isEqualTo(1);
        assertThat(server.errors().lines())
            .singleElement()
            .asString()
            .startsWith("kagzi: --http-port: 127.0.0.1:" + port + " cannot be bound");
      }
    }
  }

  @Test
  void commands_send_token_and_certificate() throws Exception {
    Certificate server = Certificate.create(folder, "server");
    Certificate client = Certificate.create(folder, "client");
    Path token = Files.writeString(folder.resolve("token"), "t0ken\n");
    try (KagziProcess process =
        server(
            Map.of("KAGZI_DB_URL", url("guarded"), "KAGZI_TOKEN_FILE", token.toString()),
            "--tls-cert",
            server.cert().toString(),
            "--tls-key",
            server.key().toString(),
            "--tls-client-ca",
            client.cert().toString())) {
      process.awaitReady();
      String[] list = {
        "workflow",
        "list",
        "--address",
        "localhost:" + process.grpcPort(),
        "--tls",
        "--tls-ca",
        server.cert().toString(),
        "--tls-cert",
        client.cert().toString(),
        "--tls-key",
        client.key().toString()
      };
      Map<String, String> variables =
          Map.of(
              "KAGZI_ADDRESS", "localhost:" + process.grpcPort(),
              "KAGZI_TOKEN_FILE", token.toString(),
              "KAGZI_TLS", "true",
              "KAGZI_TLS_CA", server.cert().toString(),
              "KAGZI_CLIENT_TLS_CERT", client.cert().toString(),
              "KAGZI_CLIENT_TLS_KEY", client.key().toString());

      try (KagziProcess let = KagziProcess.start(folder, Map.of("KAGZI_TOKEN", "t0ken"), list)) {
        assertThat(let.awaitExit()).as(let.errors()).isZero();
      }
      try (KagziProcess let = KagziProcess.start(folder, variables, "workflow", "list")) {
        assertThat(let.awaitExit()).as(let.errors()).isZero();
      }
      // The client expects each server's own name: the first server's certificate does not match
      // this one.
      Map<String, String> several = new HashMap<>(variables);
      several.put("KAGZI_ADDRESS", "127.0.0.2:1,localhost:" + process.grpcPort());
      try (KagziProcess let = KagziProcess.start(folder, several, "workflow", "list")) {
        assertThat(let.awaitExit()).as(let.errors()).isZero();
      }
      Map<String, String> distrusting = new HashMap<>(variables);
      distrusting.put("KAGZI_TLS_CA", client.cert().toString());
      try (KagziProcess not = KagziProcess.start(folder, distrusting, "workflow", "list")) {
        assertThat(not.awaitExit()).isEqualTo(4);
        assertThat(not.errors().lines())
            .singleElement()
            .asString()
            .startsWith("kagzi: server: localhost:" + process.grpcPort() + ": certificate: ")
            .contains("--tls-ca");
      }
      try (KagziProcess not = KagziProcess.start(folder, Map.of("KAGZI_TOKEN", "no"), list)) {
        assertThat(not.awaitExit()).isEqualTo(1);
        assertThat(not.errors())
            .startsWith("kagzi: authorization: not the server's token")
            .contains("KAGZI_TOKEN");
      }
    }
  }

  private KagziProcess server(Map<String, String> environment, String... flags) throws IOException {
    Map<String, String> all = new HashMap<>(environment);
    all.put("KAGZI_SERVER_PORT", "0");
    all.put("KAGZI_HTTP_PORT", "0");
    String[] arguments = new String[flags.length + 1];
    arguments[0] = "server";
    System.arraycopy(flags, 0, arguments, 1, flags.length);
    return KagziProcess.start(folder, all, arguments);
  }

  private static String url(String database) {
    postgres.createDatabase(database);
    return "postgres://%s:%s@127.0.0.1:%d/%s"
        .formatted(postgres.user(), postgres.password(), postgres.port(), database);
  }
}
