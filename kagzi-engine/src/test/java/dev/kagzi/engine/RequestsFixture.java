package dev.kagzi.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An engine, and connections of an application to its database. */
abstract class RequestsFixture {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  static final Duration SOON = Duration.ofSeconds(20);

  // The heartbeat of a server, which finds the first request, is sent at every fifth interval.
  static final EngineConfig CONFIG =
      EngineConfig.defaults().withCoordinatorInterval(Duration.ofMillis(100));

  TestEngine engine;
  String queue;

  @BeforeEach
  void open(TestInfo test) {
    database.forgetRuns();
    queue = test.getTestMethod().orElseThrow().getName();
    engine = TestEngine.start(database.config(), queue, CONFIG);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  static Connection connect() throws SQLException {
    return DriverManager.getConnection(
        database.config().jdbcUrl(), database.config().user(), database.config().password());
  }

  /** Calls a function; returns its result. */
  static String call(Connection connection, String function, String arguments) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery("SELECT kagzi.%s(%s)".formatted(function, arguments))) {
      row.next();
      return row.getString(1);
    }
  }

  static RunId requestStart(Connection connection, String arguments) throws SQLException {
    return new RunId(UUID.fromString(call(connection, "start_workflow", arguments)));
  }

  static List<String> texts(String sql) {
    return database.run(session -> session.query(sql).list(row -> row.text("text")));
  }

  boolean isThere(RunId run) {
    try {
      engine.run(run);
      return true;
    } catch (Refusal notFound) {
      return false;
    }
  }

  /** A role may call the function if it was granted, and needs no right on a table. */
  static void assertCallNeedsGrant(String function, String table, String arguments)
      throws SQLException {
    String role = "app_" + Long.toString(System.nanoTime(), 36);
    database.execute("CREATE ROLE %s".formatted(role));
    database.execute("GRANT USAGE ON SCHEMA kagzi TO %s".formatted(role));
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      statement.execute("SET ROLE " + role);
      assertThatThrownBy(() -> call(connection, function, arguments))
          .hasMessageContaining("permission denied for function " + function);
      database.execute("GRANT EXECUTE ON FUNCTION kagzi.%s TO %s".formatted(function, role));

      assertThat(call(connection, function, arguments)).isNotEmpty();

      for (String each : List.of(table, "workflow_runs")) {
        assertThatThrownBy(() -> statement.execute("SELECT 1 FROM kagzi." + each))
            .hasMessageContaining("permission denied for table " + each);
      }
    } finally {
      database.execute("DROP OWNED BY %s".formatted(role));
      database.execute("DROP ROLE %s".formatted(role));
    }
  }
}
