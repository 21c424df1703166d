package dev.kagzi.bench;

import dev.kagzi.engine.config.DatabaseConfig;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;

/** The database of one system, dropped when closed. */
record BenchDatabase(DatabaseServer server, String name) implements AutoCloseable {

  /** The environment variables with which a child process connects to it. */
  Map<String, String> environment() {
    DatabaseConfig config = server.config(name);
    return Map.of(
        "KAGZI_DB_URL", config.jdbcUrl(),
        "KAGZI_DB_USER", config.user(),
        "KAGZI_DB_PASSWORD", config.password());
  }

  DatabaseConfig config() {
    return server.config(name);
  }

  long commits() {
    return server.commits(name);
  }

  /** Vacuums now; otherwise autovacuum would do it a minute later, perhaps during a measurement. */
  void vacuum() {
    DatabaseConfig config = server.config(name);
    try (Connection connection =
            DriverManager.getConnection(config.jdbcUrl(), config.user(), config.password());
        Statement statement = connection.createStatement()) {
      statement.execute("VACUUM (ANALYZE)");
    } catch (SQLException e) {
      throw new BenchException("cannot vacuum " + name + ": " + e.getMessage(), e);
    }
  }

  @Override
  public void close() {
    server.drop(name);
  }
}
