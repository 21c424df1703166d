package dev.kagzi.engine.db;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.kagzi.engine.value.Refusal;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The engine's PostgreSQL: a pool for reading, and sessions of their own for writers. */
public final class Database implements AutoCloseable {
  // Hot statements look runs up by primary key whatever the statistics say: on a table that was
  // empty a moment ago the planner would rather scan it whole, and keep that plan.
  private static final List<String> WRITER_SETTINGS =
      List.of(
          "SET synchronous_commit = on",
          "SET enable_seqscan = off",
          "SET enable_hashjoin = off",
          "SET enable_mergejoin = off",
          "SET enable_bitmapscan = off",
          "SET plan_cache_mode = force_generic_plan",
          "SET jit = off");

  // A server that was paused or cut off in the middle of a transaction must not keep what it has
  // locked from all others. Not every platform lets PostgreSQL notice a vanished client in the
  // middle of a statement; the rest holds there too.
  private static final String PATIENCE =
      """
      SET lock_timeout = '3s';
      SET idle_in_transaction_session_timeout = '5s';
      DO $$ BEGIN
        PERFORM set_config('client_connection_check_interval', '2s', false);
      EXCEPTION WHEN invalid_parameter_value THEN NULL;
      END $$
      """;

  private static final int VERSION_MIN = 140_000;

  // What the engine's own duties always find free, however many people look at things.
  private static final int DUTY_CONNECTIONS = 2;
  private static final int ANSWER_SECONDS_MAX = 10;
  private static final int TURN_SECONDS_MAX = 5;
  private static final int REPEATS_MAX = 3;

  private final DatabaseConfig config;
  private final ConnectionFactory connector;
  private final StatementMetrics meter = new StatementMetrics();
  private final HikariDataSource pool;
  private final Semaphore askers;
  private final DatabaseFailureLog failures;

  private Database(DatabaseConfig config, ConnectionFactory connector) {
    this.config = config;
    this.connector = connector;
    this.pool = new HikariDataSource(poolConfig(config));
    this.askers = new Semaphore(Math.max(1, config.poolSize() - DUTY_CONNECTIONS), true);
    // What is left in the pool is from before the outage, and broken.
    this.failures =
        new DatabaseFailureLog(
            System::nanoTime, () -> pool.getHikariPoolMXBean().softEvictConnections());
  }

  /** Opens the database as configured. Nothing is sent yet. */
  public static Database open(DatabaseConfig config) {
    return new Database(config, () -> connect(config));
  }

  /** Opens the database with writers' connections from the given place. */
  public static Database open(DatabaseConfig config, ConnectionFactory connector) {
    return new Database(config, connector);
  }

  /** What a plain connection to the configured place is. */
  public static Connection connect(DatabaseConfig config) throws SQLException {
    Properties properties = new Properties();
    properties.setProperty("user", config.user());
    properties.setProperty("password", config.password());
    properties.setProperty("ApplicationName", "kagzi");
    properties.setProperty("connectTimeout", "5");
    properties.setProperty("socketTimeout", "10");
    properties.setProperty("tcpKeepAlive", "true");
    properties.setProperty("prepareThreshold", "1");
    return DriverManager.getConnection(config.jdbcUrl(), properties);
  }

  private static HikariConfig poolConfig(DatabaseConfig config) {
    HikariConfig hikari = new HikariConfig();
    hikari.setJdbcUrl(config.jdbcUrl());
    hikari.setUsername(config.user());
    hikari.setPassword(config.password());
    hikari.setMaximumPoolSize(config.poolSize());
    hikari.setMinimumIdle(1);
    hikari.setConnectionTimeout(5_000);
    hikari.setInitializationFailTimeout(-1);
    hikari.setPoolName("kagzi-read");
    hikari.setConnectionInitSql(PATIENCE);
    hikari.addDataSourceProperty("ApplicationName", "kagzi");
    hikari.addDataSourceProperty("connectTimeout", "5");
    hikari.addDataSourceProperty("socketTimeout", "30");
    hikari.addDataSourceProperty("tcpKeepAlive", "true");
    return hikari;
  }

  /**
   * Brings the schema up to date. Safe when several servers start at once.
   *
   * @return the version that it has now
   * @throws SchemaException if it is newer than this server, or a build before the first release
   *     made it
   */
  public String migrate() {
    return new Schema(config).migrate();
  }

  /**
   * Leaves the schema as it is.
   *
   * @throws SchemaException if it is not the one that this server knows
   */
  public void checkSchema() {
    new Schema(config).check();
  }

  /**
   * Refuses a server that would lose what it acknowledged, and a pooler that hands out another
   * backend for every transaction.
   */
  public void check() throws SQLException {
    try (Session session = open("check")) {
      int version = Integer.parseInt(setting(session, "server_version_num"));
      if (version < VERSION_MIN) {
        throw new SQLException(
            "PostgreSQL: %s (expected: 14 or newer)".formatted(setting(session, "server_version")));
      }
      String fsync = setting(session, "fsync");
      if (!fsync.equals("on") && !config.allowUnsafe()) {
        throw new SQLException(
            "fsync: " + fsync + " (expected: on; acknowledged work would be lost in a crash)");
      }
      int first = backend(session);
      session.inTransaction(tx -> tx.query("SELECT 1 AS one").first(row -> row.integer("one")));
      session.query("SET application_name = 'kagzi-check'").execute();
      if (backend(session) != first
          || !setting(session, "application_name").equals("kagzi-check")) {
        throw new SQLException(
            "the connection changes its backend between transactions (expected: a session;"
                + " point kagzi at PostgreSQL itself, or set the pooler to session pooling)");
      }
    }
  }

  private static String setting(Session session, String name) throws SQLException {
    return session
        .query("SELECT current_setting(?) AS value")
        .bind(name)
        .first(row -> row.text("value"))
        .orElse("");
  }

  private static int backend(Session session) throws SQLException {
    return session
        .query("SELECT pg_backend_pid() AS pid")
        .first(row -> row.integer("pid"))
        .orElseThrow();
  }

  /** A session for a writer. The name shows in the meter. */
  public Session open(String name) throws SQLException {
    Connection connection = connector.open();
    Session session = new Session(connection, meter, name);
    try {
      session.query(String.join("; ", WRITER_SETTINGS) + "; " + PATIENCE).execute();
      failures.worked(session.openedNanos());
    } catch (SQLException e) {
      session.close();
      throw e;
    }
    return session;
  }

  /**
   * Runs a read for somebody who asks; blocks. Such reads are bounded in number and in time: a list
   * that walks over millions must not keep the engine from looking after workers and schedules.
   */
  public <T> T answer(Session.Work<T> work) {
    return answer(work, ANSWER_SECONDS_MAX);
  }

  <T> T answer(Session.Work<T> work, int secondsMax) {
    takeTurn();
    long begin = System.nanoTime();
    try (Connection connection = pool.getConnection()) {
      T result = work.run(new Session(connection, meter, "read", secondsMax));
      failures.worked(begin);
      return result;
    } catch (SQLException e) {
      throw SqlErrors.isCancelled(e) ? tooLong(secondsMax) : refusal(e, begin);
    } finally {
      askers.release();
    }
  }

  private void takeTurn() {
    try {
      if (askers.tryAcquire(TURN_SECONDS_MAX, TimeUnit.SECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    throw Refusal.of(
        Refusal.Reason.RESOURCE_EXHAUSTED,
        "database",
        "",
        "questions under way: as many as db-pool-size allows (expected: fewer; try again later)");
  }

  private static Refusal tooLong(int secondsMax) {
    return Refusal.of(
        Refusal.Reason.FAILED_PRECONDITION,
        "database",
        "",
        "the question takes longer than "
            + secondsMax
            + " s (expected: one that looks at less: by id, by status, by time of creation)");
  }

  /** Runs a read on a pooled connection; blocks. */
  public <T> T read(Session.Work<T> work) {
    long begin = System.nanoTime();
    try (Connection connection = pool.getConnection()) {
      T result = work.run(new Session(connection, meter, "read"));
      failures.worked(begin);
      return result;
    } catch (SQLException e) {
      throw refusal(e, begin);
    }
  }

  /** Runs a transaction on a pooled connection; blocks. For writes that are no part of a run. */
  public <T> T write(Session.Work<T> work) {
    long begin = System.nanoTime();
    try (Connection connection = pool.getConnection()) {
      T result = new Session(connection, meter, "write").inTransaction(work);
      failures.worked(begin);
      return result;
    } catch (SQLException e) {
      throw refusal(e, begin);
    }
  }

  /**
   * The same for work that finds out by itself whether it was committed before. It is sent again
   * when its connection broke: whether PostgreSQL has committed is then unknown.
   */
  public <T> T writeRepeatable(Session.Work<T> work) {
    for (int repeats = 0; ; repeats++) {
      long begin = System.nanoTime();
      try (Connection connection = connection()) {
        T result = new Session(connection, meter, "write").inTransaction(work);
        failures.worked(begin);
        return result;
      } catch (SQLException e) {
        if (repeats == REPEATS_MAX
            || SqlErrors.remedy(e) == SqlErrors.Remedy.SPLIT
            || SqlErrors.isLockTimeout(e)) {
          throw refusal(e, begin);
        }
      }
    }
  }

  /** A database that is away is not asked again: the pool has waited for it. */
  private Connection connection() {
    long begin = System.nanoTime();
    try {
      return pool.getConnection();
    } catch (SQLException e) {
      throw refusal(e, begin);
    }
  }

  private Refusal refusal(SQLException error, long connectedNanos) {
    // Who still asks while an engine is closing is told so; it is nothing to log.
    if (!pool.isClosed()) {
      failures.failed(DatabaseFailureLog.caller(), error, connectedNanos);
    }
    return SqlErrors.refusal(error);
  }

  /**
   * Logs the failure of a statement on a session of its owner's; null when none could be opened.
   */
  public void failed(String call, SQLException error, @Nullable Session session) {
    failures.failed(call, error, session == null ? System.nanoTime() : session.openedNanos());
  }

  /** Why the database cannot be used now, or nothing. */
  public java.util.Optional<String> trouble() {
    try {
      read(session -> session.query("SELECT 1 AS one").first(row -> row.integer("one")));
      return java.util.Optional.empty();
    } catch (Refusal refusal) {
      return java.util.Optional.ofNullable(refusal.getMessage());
    }
  }

  /** Where it is, as it was configured. */
  public String address() {
    return config.jdbcUrl();
  }

  public StatementMetrics meter() {
    return meter;
  }

  @Override
  public void close() {
    pool.close();
  }
}
