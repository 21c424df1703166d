package dev.kagzi.bench;

import dev.kagzi.engine.config.DatabaseConfig;
import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.server.ServerConfig;
import dev.kagzi.server.config.Settings;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The PostgreSQL of the measurements: the given one, or an embedded one. Used by one thread.
 *
 * <p>Each system gets its own database, which is dropped at the end. Queries of the benchmark go to
 * another database, so that they are not among the counted commits.
 */
final class DatabaseServer implements AutoCloseable {
  private static final Pattern JDBC_URL =
      Pattern.compile("(jdbc:postgresql://[^/?]*)(?:/[^?]*)?(\\?.*)?");
  private static final String NAME_PREFIX = "kagzi_bench_";
  private static final String DUPLICATE_DATABASE = "42P04";

  private final DatabaseConfig config;
  private final @Nullable EmbeddedPostgres embedded;
  private final Connection connection;
  private final Set<String> databases = ConcurrentHashMap.newKeySet();

  private DatabaseServer(DatabaseConfig config, @Nullable EmbeddedPostgres embedded)
      throws SQLException {
    this.config = config;
    this.embedded = embedded;
    this.connection =
        DriverManager.getConnection(config.jdbcUrl(), config.user(), config.password());
  }

  /** Connects to the server at this address; user and password may come from the environment. */
  static DatabaseServer at(String url) {
    Map<String, String> login = new HashMap<>(System.getenv());
    login.keySet().removeIf(name -> !name.startsWith("KAGZI_DB_"));
    Settings settings = Settings.of(Settings.Sources.environment(login));
    DatabaseConfig config = ServerConfig.builder(settings).dbUrl(url).database();
    try {
      DatabaseServer server = new DatabaseServer(config, null).checked();
      Runtime.getRuntime().addShutdownHook(new Thread(server::dropAbandoned));
      return server;
    } catch (SQLException e) {
      throw new BenchException(
          "database " + DatabaseConfig.masked(config.jdbcUrl()) + ": " + e.getMessage(), e);
    }
  }

  /** Starts a durable embedded server, with its data beside that of the user's other servers. */
  static DatabaseServer embedded() {
    EmbeddedPostgres postgres =
        EmbeddedPostgres.builder().dataDir(EmbeddedPostgres.defaultDataDir("bench")).start();
    try {
      DatabaseConfig config =
          new DatabaseConfig(postgres.jdbcUrl("postgres"), postgres.user(), postgres.password());
      DatabaseServer server = new DatabaseServer(config, postgres).checked();
      server.dropLeftovers();
      return server;
    } catch (SQLException e) {
      postgres.close();
      throw new BenchException("embedded PostgreSQL: " + e.getMessage(), e);
    } catch (RuntimeException e) {
      postgres.close();
      throw e;
    }
  }

  private DatabaseServer checked() throws SQLException {
    for (String setting : List.of("fsync", "synchronous_commit")) {
      if (text("SHOW " + setting).equals("off")) {
        close();
        throw new BenchException(
            setting + ": off (expected: on, because durable commits are measured)");
      }
    }
    return this;
  }

  /** Drops databases that a killed benchmark has left in the embedded server. */
  private void dropLeftovers() throws SQLException {
    List<String> names = new ArrayList<>();
    try (PreparedStatement query =
        connection.prepareStatement(
            "SELECT datname FROM pg_database WHERE starts_with(datname, ?)")) {
      query.setString(1, NAME_PREFIX);
      try (ResultSet rows = query.executeQuery()) {
        while (rows.next()) {
          names.add(rows.getString(1));
        }
      }
    }
    names.forEach(this::drop);
  }

  /** Creates an empty database with an unused name. */
  BenchDatabase createDatabase() {
    for (int n = 1; ; n++) {
      String name = NAME_PREFIX + n;
      try (Statement statement = connection.createStatement()) {
        statement.execute("CREATE DATABASE " + name);
        databases.add(name);
        return new BenchDatabase(this, name);
      } catch (SQLException e) {
        if (!DUPLICATE_DATABASE.equals(e.getSQLState())) {
          throw new BenchException("cannot create a database: " + e.getMessage(), e);
        }
      }
    }
  }

  void drop(String database) {
    try (Statement statement = connection.createStatement()) {
      statement.execute(dropping(database));
      databases.remove(database);
    } catch (SQLException e) {
      throw new BenchException("cannot drop database " + database + ": " + e.getMessage(), e);
    }
  }

  private static String dropping(String database) {
    return "DROP DATABASE IF EXISTS " + database + " WITH (FORCE)";
  }

  /** Runs after a signal on its own connection, while another thread may still be measuring. */
  private void dropAbandoned() {
    if (databases.isEmpty()) {
      return;
    }
    try (Connection own =
            DriverManager.getConnection(config.jdbcUrl(), config.user(), config.password());
        Statement statement = own.createStatement()) {
      for (String database : databases) {
        statement.execute(dropping(database));
      }
    } catch (SQLException e) {
      throw new BenchException("left behind: " + databases + ": " + e.getMessage(), e);
    }
  }

  /** The connection settings of one of its databases. */
  DatabaseConfig config(String database) {
    Matcher url = JDBC_URL.matcher(config.jdbcUrl());
    if (!url.matches()) {
      throw new BenchException(
          "database url: " + config.jdbcUrl() + " (expected: jdbc:postgresql://host:port/name)");
    }
    String parameters = url.group(2) == null ? "" : url.group(2);
    return new DatabaseConfig(
        url.group(1) + "/" + database + parameters, config.user(), config.password());
  }

  /** The committed transactions in PostgreSQL's statistics; sessions report them with a delay. */
  long commits(String database) {
    try (PreparedStatement query =
        connection.prepareStatement("SELECT xact_commit FROM pg_stat_database WHERE datname = ?")) {
      query.setString(1, database);
      try (ResultSet row = query.executeQuery()) {
        row.next();
        return row.getLong(1);
      }
    } catch (SQLException e) {
      throw new BenchException("cannot read pg_stat_database: " + e.getMessage(), e);
    }
  }

  /** Writes dirty pages now, so that they are not written during a measurement. */
  void checkpoint(Progress progress) {
    try (Statement statement = connection.createStatement()) {
      statement.execute("CHECKPOINT");
    } catch (SQLException e) {
      progress.print("no checkpoint before the measurement: " + e.getMessage());
    }
  }

  /** Returns the process id of this connection's backend, whose parent is the postmaster. */
  long sessionPid() {
    try {
      return Long.parseLong(text("SELECT pg_backend_pid()::text"));
    } catch (SQLException e) {
      throw new BenchException("cannot query PostgreSQL: " + e.getMessage(), e);
    }
  }

  private String text(String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getString(1);
    }
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (SQLException e) {
      throw new BenchException("cannot close the connection to PostgreSQL: " + e.getMessage(), e);
    } finally {
      if (embedded != null) {
        embedded.close();
      }
    }
  }
}
