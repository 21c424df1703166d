package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.server.KagziServer;
import dev.kagzi.server.ServerConfig;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The doctor of a healthy database, and of one with planted faults. */
@SuppressWarnings("NullAway.Init")
class DoctorCommandTest {
  private static final WorkflowType<String, String> LONELY =
      WorkflowType.of("lonely", String.class, String.class).queue("nobody");

  // Its own: the shared PostgreSQL of other tests is not durable, which is a fault.
  private static EmbeddedPostgres postgres;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @BeforeAll
  static void start() {
    postgres =
        EmbeddedPostgres.builder().ephemeral().setting("max_prepared_transactions", "5").start();
  }

  @AfterAll
  static void stop() {
    postgres.close();
  }

  private static KagziServer serve(String database) {
    return serve(postgres, database, "");
  }

  private static KagziServer serve(EmbeddedPostgres postgres, String database, String token) {
    postgres.createDatabaseIfAbsent(database);
    ServerConfig.Builder config =
        ServerConfig.builder()
            .dbUrl(postgres.jdbcUrl(database))
            .dbUser(postgres.user())
            .dbPassword(postgres.password())
            .grpcPort(0)
            .httpPort(0);
    return KagziServer.start((token.isEmpty() ? config : config.token(token)).build());
  }

  private static String address(KagziServer server) {
    return "127.0.0.1:" + server.grpcPort();
  }

  private int doctor(String address, String... further) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    List<String> words = new ArrayList<>(List.of("doctor", "--address", address));
    words.addAll(List.of(further));
    String[] arguments = words.toArray(String[]::new);
    return Main.commandLine(CommandTree.of(arguments))
        .setOut(new PrintWriter(out))
        .setErr(new PrintWriter(err))
        .execute(arguments);
  }

  /** Returns the status of each check. */
  private Map<String, String> statuses() {
    JsonNode json = JsonMapper.builder().build().readTree(out.toString());
    Map<String, String> statuses = new TreeMap<>();
    json.at("/findings")
        .forEach(each -> statuses.put(each.at("/check").asString(), each.at("/status").asString()));
    return statuses;
  }

  private static void execute(Connection connection, String... statements) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String each : statements) {
        statement.execute(each);
      }
    }
  }

  @Test
  void a_healthy_server_is_ok() {
    try (KagziServer server = serve("healthy")) {
      assertThat(doctor(address(server))).as("%s", out).isZero();
      assertThat(out.toString())
          .containsPattern("(?m)^OK +VERSION +the server has version ")
          .containsPattern("(?m)^OK +INDEXES +all \\d+ indexes are valid")
          .contains("24 ok, 0 warnings, 0 failures")
          .doesNotContain("do: ");

      assertThat(doctor(address(server), "-o", "json")).isZero();
      assertThat(statuses()).hasSize(24).doesNotContainValue("WARNING");
      assertThat(out.toString()).contains("\"status\" : \"OK\"");
    }
  }

  @Test
  void ten_planted_faults_are_found() throws SQLException {
    try (KagziServer server = serve("faulty");
        Kagzi kagzi = Kagzi.connect(address(server));
        Connection connection = postgres.connect("faulty");
        Connection other = postgres.connect("faulty");
        Statement open = other.createStatement()) {
      assertThat(doctor(address(server))).as("%s", out).isZero();
      String run = kagzi.workflow(LONELY).start("x").runId();
      other.setAutoCommit(false);
      open.execute("CREATE TABLE public.forgotten (id int)");
      open.execute("PREPARE TRANSACTION 'forgotten'");
      open.execute("SELECT 1");
      execute(
          connection,
          "DROP INDEX kagzi.workflow_runs_blocked",
          "UPDATE pg_index SET indisvalid = false"
              + " WHERE indexrelid = 'kagzi.workers_died'::regclass",
          "CREATE INDEX by_start ON kagzi.workflow_runs (started_at)",
          "ALTER TABLE kagzi.step_runs SET (autovacuum_enabled = false)",
          "UPDATE kagzi.workflow_runs SET crashes = 4, blocked_by = '{\"message\": \"changed\"}'",
          "INSERT INTO kagzi.schema_history (installed_rank, version, description, type, script,"
              + " installed_by, execution_time, success) VALUES (99, '99', 'later', 'SQL',"
              + " 'V99__later.sql', 'x', 1, true)",
          // What exists looks ten minutes older then.
          "CREATE OR REPLACE FUNCTION kagzi.clock() RETURNS timestamptz LANGUAGE sql STABLE AS"
              + " 'SELECT now() + interval ''10 minutes'''");
      try {
        assertThat(doctor(address(server), "-o", "json")).isEqualTo(7);

        assertThat(statuses())
            .containsEntry("INDEXES", "FAILURE")
            .containsEntry("EXTRA_INDEXES", "WARNING")
            .containsEntry("AUTOVACUUM", "FAILURE")
            .containsEntry("SCHEMA", "FAILURE")
            .containsEntry("OPEN_TRANSACTIONS", "WARNING")
            .containsEntry("PREPARED_TRANSACTIONS", "WARNING")
            .containsEntry("CLOCK", "WARNING")
            .containsEntry("DUE_RUNS", "WARNING")
            .containsEntry("BLOCKED_RUNS", "WARNING")
            .containsEntry("CRASHING_RUNS", "WARNING")
            .containsEntry("FSYNC", "OK")
            .containsEntry("DISK", "OK");
        assertThat(doctor(address(server))).isEqualTo(7);
        assertThat(out.toString())
            .contains("workers_died is invalid; workflow_runs_blocked is missing")
            .contains("do: ALTER TABLE kagzi.step_runs RESET (autovacuum_enabled)")
            .contains(
                "run " + run + " of namespace default: The code of its worker does not match");
      } finally {
        execute(connection, "ROLLBACK PREPARED 'forgotten'");
      }
    }
  }

  @Test
  void warnings_alone_have_their_own_exit_code() throws SQLException {
    try (KagziServer server = serve("warned");
        Connection connection = postgres.connect("warned")) {
      execute(connection, "CREATE INDEX by_start ON kagzi.workflow_runs (started_at)");

      assertThat(doctor(address(server))).isEqualTo(6);

      assertThat(out.toString())
          .containsPattern("(?m)^WARNING +EXTRA_INDEXES +by_start \\(expected: only")
          .contains("do: each makes writes slower")
          .contains("23 ok, 1 warning, 0 failures");
    }
  }

  @Test
  void a_server_without_its_database_is_a_failure() {
    EmbeddedPostgres other = EmbeddedPostgres.builder().ephemeral().start();
    try (KagziServer server = serve(other, "away", "")) {
      other.close();

      assertThat(doctor(address(server), "-o", "json")).isEqualTo(7);
      assertThat(statuses()).containsEntry("SERVER", "FAILURE").containsEntry("VERSION", "OK");
      assertThat(doctor(address(server))).isEqualTo(7);
      assertThat(out.toString()).contains("do: start PostgreSQL", "1 ok, 0 warnings, 1 failure");
    } finally {
      other.close();
    }
  }

  @Test
  void without_an_answer_nothing_is_found() {
    assertThat(doctor("127.0.0.1:1", "-o", "json")).isEqualTo(4);

    assertThat(out.toString()).isEmpty();
    assertThat(err.toString()).contains("127.0.0.1:1 does not answer").hasLineCount(1);
  }

  @Test
  void a_wrong_token_is_no_finding() {
    try (KagziServer server = serve(postgres, "guarded", "secret")) {
      assertThat(doctor(address(server))).isEqualTo(1);

      assertThat(out.toString()).isEmpty();
      assertThat(err.toString()).contains("[UNAUTHENTICATED]", "--token-file").hasLineCount(1);
    }
  }
}
