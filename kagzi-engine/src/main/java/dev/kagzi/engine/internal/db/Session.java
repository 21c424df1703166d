package dev.kagzi.engine.internal.db;

import dev.kagzi.engine.metrics.StatementMetrics;
import dev.kagzi.engine.value.Claim;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/**
 * One connection with its statements. Outside of {@link #inTransaction} every statement commits by
 * itself. Not thread-safe: each thread has its own.
 */
public final class Session implements AutoCloseable {
  /**
   * Locks and returns a row if a synchronous standby is configured, so that the commit waits for
   * it.
   */
  static final String STANDBY_SQL =
      """
      SELECT 1 AS one
        FROM kagzi.database_generation
       WHERE current_setting('synchronous_standby_names') <> ''
         FOR KEY SHARE
      """;

  private static final String CONNECTION_FAILURE = "08006";
  private static final long PLANS_NANOS_MAX = TimeUnit.SECONDS.toNanos(5);

  private final Connection connection;
  private final StatementMetrics metrics;
  private final String name;
  private final int secondsMax;
  private final long openedNanos = System.nanoTime();
  private long plannedNanos = openedNanos;
  private boolean endsByRollback;
  private Generation generation = new Generation(0, List.of());
  private @Nullable Supplier<Generation> present;
  private long statements;

  /** {@code secondsMax}: timeout of each statement; 0 for the connection's own. */
  Session(Connection connection, StatementMetrics metrics, String name, int secondsMax) {
    this.connection = connection;
    this.metrics = metrics;
    this.name = name;
    this.secondsMax = secondsMax;
  }

  @FunctionalInterface
  public interface Work<T> {
    T run(Session session) throws SQLException;
  }

  public <T> T inTransaction(Work<T> work) throws SQLException {
    requirePresentGeneration();
    discardOldPlans();
    connection.setAutoCommit(false);
    endsByRollback = false;
    boolean ended = false;
    try {
      T result = work.run(this);
      if (endsByRollback && !waitsForStandby()) {
        connection.rollback();
      } else {
        connection.commit();
        metrics.commit();
      }
      ended = true;
      return result;
    } finally {
      if (!ended) {
        rollbackQuietly();
      }
      if (!connection.isClosed()) {
        connection.setAutoCommit(true);
      }
    }
  }

  /**
   * Lets the current transaction end by a rollback, because it has only read and locked rows. A row
   * lock is written to the WAL, so a commit would wait for the disk.
   *
   * <p>With a synchronous standby, the transaction commits nevertheless, after it has locked a row.
   * It may have read a commit that the standby does not have: that of another backend process that
   * was terminated while it waited for the standby. A commit that has written to the WAL waits
   * until the standby has everything before it. A commit without a write does not wait.
   */
  public void endByRollback() {
    endsByRollback = true;
  }

  private boolean waitsForStandby() throws SQLException {
    return query(STANDBY_SQL).first(row -> true).isPresent();
  }

  /** How many statements this session has sent. */
  public long statements() {
    return statements;
  }

  public Query query(String sql) throws SQLException {
    if (connection.getAutoCommit()) {
      requirePresentGeneration();
      discardOldPlans();
    }
    PreparedStatement statement = connection.prepareStatement(sql);
    if (secondsMax > 0) {
      statement.setQueryTimeout(secondsMax);
    }
    return new Query(connection, sql, statement, this::sent);
  }

  /**
   * Discards cached plans from time to time. A plan made for an empty table may scan the whole
   * table and would be kept while the table grows, until the next ANALYZE or forever. New plans
   * cost a few milliseconds.
   */
  private void discardOldPlans() throws SQLException {
    long now = System.nanoTime();
    if (now - plannedNanos > PLANS_NANOS_MAX) {
      plannedNanos = now;
      try (Statement statement = connection.createStatement()) {
        statement.execute("DISCARD PLANS");
      }
    }
  }

  private void sent() throws SQLException {
    statements++;
    metrics.statement(name);
    if (connection.getAutoCommit()) {
      metrics.commit();
    }
  }

  public <T> T inSavepoint(Work<T> work) throws SQLException {
    Savepoint before = connection.setSavepoint();
    try {
      T result = work.run(this);
      connection.releaseSavepoint(before);
      return result;
    } catch (SQLException e) {
      connection.rollback(before);
      throw e;
    }
  }

  /** Work that may throw an {@link SQLException}. */
  @FunctionalInterface
  interface Call<T> {
    T run() throws SQLException;
  }

  /** Does work whose statements may take longer than those of this session usually do. */
  <T> T withNetworkTimeout(int millis, Call<T> work) throws SQLException {
    int before = connection.getNetworkTimeout();
    connection.setNetworkTimeout(Runnable::run, millis);
    try {
      return work.run();
    } finally {
      if (isUsable()) {
        connection.setNetworkTimeout(Runnable::run, before);
      }
    }
  }

  /**
   * The epoch before the first claim of a new run. Claims of an earlier {@link Generation} have
   * lower epochs.
   */
  public int epochBase() {
    return Claim.epochBase(generation.number());
  }

  /**
   * Sets the generation of the database when this session was opened.
   *
   * @param last the last generation that this server has seen
   */
  void setGeneration(Generation opened, Supplier<Generation> last) {
    this.generation = opened;
    this.present = last;
  }

  /** A session of an earlier generation may be connected to a former primary. */
  private void requirePresentGeneration() throws SQLException {
    if (present != null && !present.get().isBefore(generation)) {
      throw new SQLException(
          "the session is of generation %d (expected: %d, the last that this server has seen)"
              .formatted(generation.number(), present.get().number()),
          CONNECTION_FAILURE);
    }
  }

  long openedNanos() {
    return openedNanos;
  }

  public boolean isUsable() {
    try {
      return !connection.isClosed();
    } catch (SQLException broken) {
      return false;
    }
  }

  PGConnection driver() throws SQLException {
    return connection.unwrap(PGConnection.class);
  }

  private void rollbackQuietly() {
    try {
      connection.rollback();
    } catch (SQLException broken) {
      // The transaction ends with its connection; the caller sees the first exception.
      close();
    }
  }

  /**
   * Cuts the connection, without waiting for the statement that another thread sends or waits for.
   * That thread gets an {@link SQLException}. May be called by any thread.
   */
  void abort() {
    try {
      connection.abort(Runnable::run);
    } catch (SQLException broken) {
      // Nothing to do: the connection is not used again.
    }
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (SQLException broken) {
      // Nothing to do: the connection is not used again.
    }
  }
}
