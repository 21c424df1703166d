package dev.kagzi.engine.internal.db;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import dev.kagzi.engine.config.DatabaseConfig;
import dev.kagzi.engine.metrics.Meters;
import dev.kagzi.engine.metrics.StatementMetrics;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.SchemaException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * The engine's PostgreSQL database. Reads, and writes outside of the journal, use a connection
 * pool. Threads with their own session, such as lanes and claimers, open it with {@link #open}.
 */
public final class Database implements AutoCloseable {
  // Hot statements must use their indexes. For a table that was empty a moment ago, the planner
  // would choose a sequential scan and keep that plan.
  private static final List<String> WRITER_SETTINGS =
      List.of(
          "SET synchronous_commit = on",
          "SET enable_seqscan = off",
          "SET enable_hashjoin = off",
          "SET enable_mergejoin = off",
          "SET enable_bitmapscan = off",
          "SET jit = off");

  // On a schema that Citus distributes, generic plans crash the coordinator node of Citus.
  private static final String GENERIC_PLANS =
      """
      SELECT set_config('plan_cache_mode', 'force_generic_plan', false)
       WHERE NOT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus')
      """;

  // A server that hangs in the middle of a transaction must not block other servers by its locks.
  // client_connection_check_interval is not supported on every platform; the other two settings
  // still apply there.
  private static final String TIMEOUT_SETTINGS =
      """
      SET lock_timeout = '3s';
      SET idle_in_transaction_session_timeout = '5s';
      DO $$ BEGIN
        PERFORM set_config('client_connection_check_interval', '2s', false);
      EXCEPTION WHEN invalid_parameter_value THEN NULL;
      END $$
      """;

  private static final int VERSION_MIN = 140_000;

  // Connections of the pool that readForUser leaves free for all other calls.
  private static final int RESERVED_CONNECTIONS = 2;
  private static final int ANSWER_SECONDS_MAX = 10;
  private static final int QUEUE_SECONDS_MAX = 5;
  private static final int REPEATS_MAX = 3;

  // Longer than the interval of the server heartbeat, so that its statement is enough.
  private static final long LATELY_NANOS = TimeUnit.SECONDS.toNanos(6);

  private final DatabaseConfig config;
  private final ConnectionFactory connector;
  private final StatementMetrics metrics = new StatementMetrics();
  private final HikariDataSource pool;
  private final Semaphore userReads;
  private final DatabaseFailureLog failures;
  private volatile Generation generation = Generation.UNKNOWN;
  private volatile Generation.@Nullable Listener generations;

  private Database(DatabaseConfig config, ConnectionFactory connector) {
    this.config = config;
    this.connector = connector;
    this.pool = new HikariDataSource(poolConfig(config));
    this.userReads = new Semaphore(Math.max(1, config.poolSize() - RESERVED_CONNECTIONS), true);
    // After an outage, evict the pooled connections: they are older than the outage, and broken.
    this.failures =
        new DatabaseFailureLog(
            System::nanoTime, () -> pool.getHikariPoolMXBean().softEvictConnections());
  }

  public static Database open(DatabaseConfig config) {
    return new Database(config, () -> connect(config));
  }

  public static Database open(DatabaseConfig config, ConnectionFactory connector) {
    return new Database(config, connector);
  }

  public static Connection connect(DatabaseConfig config) throws SQLException {
    Properties properties = new Properties();
    properties.setProperty("user", config.user());
    properties.setProperty("password", config.password());
    properties.setProperty("ApplicationName", "kagzi");
    properties.setProperty("connectTimeout", "5");
    properties.setProperty("socketTimeout", "10");
    properties.setProperty("tcpKeepAlive", "true");
    properties.setProperty("prepareThreshold", "1");
    return DriverManager.getConnection(config.driverUrl(), properties);
  }

  private static HikariConfig poolConfig(DatabaseConfig config) {
    HikariConfig hikari = new HikariConfig();
    hikari.setJdbcUrl(config.driverUrl());
    hikari.setUsername(config.user());
    hikari.setPassword(config.password());
    hikari.setMaximumPoolSize(config.poolSize());
    hikari.setMinimumIdle(1);
    hikari.setConnectionTimeout(5_000);
    hikari.setInitializationFailTimeout(-1);
    hikari.setPoolName("kagzi-read");
    hikari.setConnectionInitSql(TIMEOUT_SETTINGS);
    hikari.addDataSourceProperty("ApplicationName", "kagzi");
    hikari.addDataSourceProperty("connectTimeout", "5");
    hikari.addDataSourceProperty("socketTimeout", "30");
    hikari.addDataSourceProperty("tcpKeepAlive", "true");
    return hikari;
  }

  /**
   * Migrates the schema to the version of this server. Safe when several servers start at once.
   *
   * @return the schema version after the migration
   * @throws SchemaException if the schema is newer than this server, was created by a build before
   *     the first release, or its tables stay locked by other transactions
   */
  public String migrate() {
    return new Schema(config).migrate();
  }

  /**
   * Checks that the schema has the version of this server.
   *
   * @return that version
   * @throws SchemaException if it has another version
   */
  public String checkSchema() {
    return new Schema(config).check();
  }

  /**
   * Checks the settings of PostgreSQL. Refuses a version before 14, a connection pooler that
   * changes the backend between transactions, and fsync off unless {@code allowUnsafe} is set.
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

  /**
   * Opens a session outside of the pool; {@link StatementMetrics} counts its statements by this
   * name.
   */
  public Session open(String name) throws SQLException {
    Connection connection = connector.open();
    Session session = new Session(connection, metrics, name, 0);
    try {
      session
          .query(String.join(";", WRITER_SETTINGS) + ";" + GENERIC_PLANS + ";" + TIMEOUT_SETTINGS)
          .execute();
      failures.worked(session.openedNanos());
      readGeneration(session);
    } catch (SQLException e) {
      session.close();
      throw e;
    }
    return session;
  }

  private void readGeneration(Session session) throws SQLException {
    Generation.Listener listener = generations;
    if (listener == null) {
      return;
    }
    Generation found = Generation.of(session, generation, listener);
    Generation before = advance(found);
    session.setGeneration(found, () -> generation);
    if (!before.isUnknown() && before.isBefore(found) && !found.isBefore(before)) {
      // Pooled connections may still lead to the primary of an earlier generation.
      pool.getHikariPoolMXBean().softEvictConnections();
      listener.begun(found.number());
    }
  }

  /**
   * Stores the generation if it follows the last known one. Returns the one that was known before.
   */
  private synchronized Generation advance(Generation found) {
    Generation before = generation;
    if (before.isBefore(found)) {
      generation = found;
    }
    return before;
  }

  /**
   * Makes {@link #open} read the generation of the database for each new session. Sessions that are
   * opened before this call have generation 0.
   */
  public void watchGenerations(Generation.Listener listener) {
    this.generations = listener;
  }

  /**
   * Runs a read on behalf of a user; blocks. These reads are limited in number and time, so that a
   * list over millions of rows does not delay the chores of the engine.
   */
  public <T> T readForUser(Session.Work<T> work) {
    return readForUser(work, ANSWER_SECONDS_MAX);
  }

  <T> T readForUser(Session.Work<T> work, int secondsMax) {
    acquireUserRead();
    try {
      return onPool("read", secondsMax, work);
    } finally {
      userReads.release();
    }
  }

  private <T> T onPool(String name, int secondsMax, Session.Work<T> work) {
    long begin = System.nanoTime();
    try (Connection connection = pool.getConnection()) {
      T result = work.run(new Session(connection, metrics, name, secondsMax));
      failures.worked(begin);
      return result;
    } catch (SQLException e) {
      throw secondsMax > 0 && SqlErrors.isCancelled(e) ? tooLong(secondsMax) : refusal(e, begin);
    }
  }

  private void acquireUserRead() {
    try {
      if (userReads.tryAcquire(QUEUE_SECONDS_MAX, TimeUnit.SECONDS)) {
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

  public <T> T read(Session.Work<T> work) {
    return onPool("read", 0, work);
  }

  /** Runs a transaction on a pooled connection; blocks. For writes outside of the journal. */
  public <T> T write(Session.Work<T> work) {
    return onPool("write", 0, session -> session.inTransaction(work));
  }

  /**
   * Like {@link #write}, for idempotent work: repeats it if its connection broke or if it
   * conflicted with another transaction, but not after a lock timeout. After a broken connection it
   * is unknown whether PostgreSQL has committed, so the work must detect its own earlier commit.
   */
  public <T> T writeRepeatable(Session.Work<T> work) {
    for (int repeats = 0; ; repeats++) {
      long begin = System.nanoTime();
      try (Connection connection = connection()) {
        T result = new Session(connection, metrics, "write", 0).inTransaction(work);
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

  /** Does not try again, because the pool has already waited for the database. */
  private Connection connection() {
    long begin = System.nanoTime();
    try {
      return pool.getConnection();
    } catch (SQLException e) {
      throw refusal(e, begin);
    }
  }

  private Refusal refusal(SQLException error, long connectedNanos) {
    // Do not log failures of callers that arrive while the engine closes.
    if (!pool.isClosed()) {
      failures.failed(Level.WARN, DatabaseFailureLog.caller(), error, connectedNanos);
    }
    return SqlErrors.refusal(error);
  }

  /** Logs a failed statement outside of the pool; {@code session} is null if none was opened. */
  public void logFailure(String call, SQLException error, @Nullable Session session) {
    logFailure(Level.WARN, call, error, session);
  }

  /**
   * Like {@link #logFailure(String, SQLException, Session)}.
   *
   * @param level the level of the line about a failed statement; lines about outages have their own
   */
  public void logFailure(Level level, String call, SQLException error, @Nullable Session session) {
    long connectedNanos = session == null ? System.nanoTime() : session.openedNanos();
    failures.failed(level, call, error, connectedNanos);
  }

  public Optional<String> unavailableReason() {
    try {
      read(session -> session.query("SELECT 1 AS one").first(row -> row.integer("one")));
      return Optional.empty();
    } catch (Refusal refusal) {
      return Optional.ofNullable(refusal.getMessage());
    }
  }

  /** Whether a statement of the last seconds has succeeded, and none has failed for an outage. */
  public boolean hasWorkedLately() {
    return failures.hasWorkedWithin(LATELY_NANOS);
  }

  public String address() {
    return config.jdbcUrl();
  }

  public StatementMetrics metrics() {
    return metrics;
  }

  /** Registers the meters of statements and of the connection pool. */
  public void bind(Meters meters) {
    meters.bind(metrics);
    meters.bindPool(
        pool.getHikariPoolMXBean(),
        HikariPoolMXBean::getActiveConnections,
        HikariPoolMXBean::getIdleConnections,
        HikariPoolMXBean::getThreadsAwaitingConnection);
  }

  @Override
  public void close() {
    pool.close();
  }
}
