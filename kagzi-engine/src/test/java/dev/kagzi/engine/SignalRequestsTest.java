package dev.kagzi.engine;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.run.SignalRequest;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.WorkerId;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Signals that applications request in their own transactions. */
class SignalRequestsTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final Duration SOON = Duration.ofSeconds(20);

  private TestEngine engine;
  private String queue;

  @BeforeEach
  void open(TestInfo test) {
    database.forgetRuns();
    queue = test.getTestMethod().orElseThrow().getName();
    // The heartbeat of a server, which finds the first request, is sent at every fifth interval.
    engine =
        TestEngine.start(
            database.config(),
            queue,
            EngineConfig.defaults().withCoordinatorInterval(Duration.ofMillis(100)));
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private static Connection connect() throws SQLException {
    return DriverManager.getConnection(
        database.config().jdbcUrl(), database.config().user(), database.config().password());
  }

  private static String request(Connection connection, RunId run, String arguments)
      throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT kagzi.signal_workflow('%s', %s)".formatted(run, arguments))) {
      row.next();
      return row.getString(1);
    }
  }

  private static String request(RunId run, String arguments) throws SQLException {
    try (Connection connection = connect()) {
      return request(connection, run, arguments);
    }
  }

  /** The signals of a run, in their order. */
  private static List<String> signals(RunId run) {
    return database.run(
        session ->
            session
                .query(
                    "SELECT name || ' ' || convert_from(data, 'UTF8') || ' ' || coalesce(metadata, '{}')"
                        + " AS signal FROM kagzi.run_signals WHERE run_id = ?"
                        + " ORDER BY signal_no LIMIT 1000")
                .bind(run.value())
                .list(row -> row.text("signal")));
  }

  private static List<String> rows() {
    return database.run(
        session ->
            session
                .query(
                    "SELECT coalesce(refusal_code, 'open') AS state FROM kagzi.signal_requests"
                        + " ORDER BY request_no LIMIT 1000")
                .list(row -> row.text("state")));
  }

  private static void awaitExecuted() {
    await().atMost(SOON).until(() -> !rows().contains("open"));
  }

  @Test
  void a_committed_request_becomes_a_signal() throws SQLException {
    RunId run = engine.start();

    String made = request(run, "'approval', '{\"by\": \"ann\"}'");
    String chosen = request(run, "'approval', signal_id => 'event-1'");
    awaitExecuted();
    request(
        run,
        "'approval', payload_data => '\\x31', payload_metadata => '{\"encoding\": \"secret\"}'");
    awaitExecuted();

    assertThat(made).matches("request-\\d+");
    assertThat(chosen).isEqualTo("event-1");
    assertThat(signals(run))
        .containsExactly(
            "approval {\"by\": \"ann\"} {}",
            "approval null {}",
            "approval 1 {\"encoding\": \"secret\"}");
    assertThat(rows()).isEmpty();
  }

  @Test
  void a_request_exists_only_if_its_transaction_commits() throws SQLException {
    RunId run = engine.start();
    try (Connection connection = connect()) {
      connection.setAutoCommit(false);
      request(connection, run, "'approval', '1'");
      connection.rollback();
      request(connection, run, "'approval', '2'");
      connection.commit();
    }
    await().atMost(SOON).until(() -> !signals(run).isEmpty());

    assertThat(signals(run)).containsExactly("approval 2 {}");
  }

  @Test
  void a_signal_waits_for_the_start_that_the_same_transaction_requests() throws SQLException {
    RunId run;
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      try (ResultSet row =
          statement.executeQuery(
              "SELECT kagzi.start_workflow('%s', '%s')".formatted(TYPE, queue))) {
        row.next();
        run = new RunId(row.getObject(1, UUID.class));
      }
      request(connection, run, "'approval', '1'");
      connection.commit();
    }

    await().atMost(SOON).until(() -> !signals(run).isEmpty());

    assertThat(rows()).isEmpty();
  }

  @Test
  void signals_of_a_run_keep_their_order_with_two_servers() throws SQLException {
    RunId first = engine.start();
    RunId second = engine.start();
    try (TestEngine other = TestEngine.start(database.config(), queue);
        Connection connection = connect()) {
      for (int i = 0; i < 40; i++) {
        request(connection, first, "'n', '%d'".formatted(i));
        request(connection, second, "'n', '%d'".formatted(i));
      }
      awaitExecuted();

      assertThat(other.engine().unavailableReason()).isEmpty();
    }
    List<String> expected = IntStream.range(0, 40).mapToObj(i -> "n %d {}".formatted(i)).toList();
    assertThat(signals(first)).isEqualTo(expected);
    assertThat(signals(second)).isEqualTo(expected);
  }

  @Test
  void a_request_that_was_sent_before_a_crash_has_no_second_effect() throws SQLException {
    RunId run = engine.start();
    engine
        .engine()
        .runs()
        .signal(NAMESPACE, run, new SignalRequest("approval", payload("1"), "event-1"))
        .join();

    request(run, "'approval', '1', signal_id => 'event-1'");
    awaitExecuted();

    assertThat(signals(run)).hasSize(1);
    assertThat(rows()).isEmpty();
  }

  @Test
  void a_refused_request_stays_with_its_reason_and_stops_no_other() throws SQLException {
    WorkerId worker = engine.register();
    RunId ended = engine.start();
    engine.report(done(engine.claimOne(worker).claim(), "1"));
    RunId run = engine.start();

    request(ended, "'approval'");
    request(new RunId(UUID.randomUUID()), "'approval'");
    request(run, "'approval', namespace => 'nowhere'");
    request(run, "''");
    request(run, "'approval', payload_data => convert_to(repeat('x', 9000000), 'UTF8')");
    request(run, "'approval', '7'");

    awaitExecuted();
    assertThat(rows())
        .containsExactly(
            "RUN_ENDED", "NOT_FOUND", "NOT_FOUND", "INVALID_ARGUMENT", "INVALID_ARGUMENT");
    assertThat(signals(run)).containsExactly("approval 7 {}");
    // A repaired request is executed.
    database.execute(
        "UPDATE kagzi.signal_requests SET name = 'approval', refused_at = NULL,"
            + " refusal_code = NULL, refusal = NULL WHERE name = ''");
    await().atMost(SOON).until(() -> signals(run).size() == 2);
  }

  @Test
  void an_open_transaction_delays_no_other_signal_of_the_run() throws SQLException {
    RunId run = engine.start();
    try (Connection connection = connect()) {
      connection.setAutoCommit(false);
      request(connection, run, "'approval', '1', signal_id => 'event-1'");

      request(run, "'approval', '2', signal_id => 'event-1'");
      await().atMost(SOON).until(() -> signals(run).size() == 1);

      connection.commit();
    }
    awaitExecuted();
    assertThat(signals(run)).containsExactly("approval 2 {}");
  }

  @Test
  void wrong_arguments_fail_in_the_callers_transaction() {
    RunId run = engine.start();

    assertThatThrownBy(() -> request(run, "'approval', '1', payload_data => '1'"))
        .hasMessageContaining("payload: set together with payload_data");
    assertThatThrownBy(() -> request(run, "NULL")).isInstanceOf(SQLException.class);
  }

  @Test
  void a_role_may_call_the_function_only_if_it_was_granted() throws SQLException {
    RunId run = engine.start();
    String role = "app_" + Long.toString(System.nanoTime(), 36);
    database.execute("CREATE ROLE %s".formatted(role));
    database.execute("GRANT USAGE ON SCHEMA kagzi TO %s".formatted(role));
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      statement.execute("SET ROLE " + role);
      assertThatThrownBy(() -> request(connection, run, "'approval'"))
          .hasMessageContaining("permission denied for function signal_workflow");
      database.execute("GRANT EXECUTE ON FUNCTION kagzi.signal_workflow TO %s".formatted(role));

      request(connection, run, "'approval'");

      assertThatThrownBy(() -> statement.execute("SELECT 1 FROM kagzi.signal_requests"))
          .hasMessageContaining("permission denied for table signal_requests");
    } finally {
      database.execute("DROP OWNED BY %s".formatted(role));
      database.execute("DROP ROLE %s".formatted(role));
    }
    await().atMost(SOON).until(() -> signals(run).size() == 1);
  }
}
