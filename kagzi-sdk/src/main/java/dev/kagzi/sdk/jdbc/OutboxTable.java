package dev.kagzi.sdk.jdbc;

import dev.kagzi.sdk.internal.jdbc.OutboxRows;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;

/**
 * The table {@code kagzi_outbox} of an application's database, which contains the starts and
 * signals that were not sent yet or that the server refused. Thread-safe.
 */
public final class OutboxTable {
  private final DataSource dataSource;

  private OutboxTable(DataSource dataSource) {
    this.dataSource = dataSource;
  }

  /** Returns the table in the database of this data source, without a call to the database. */
  public static OutboxTable in(DataSource dataSource) {
    return new OutboxTable(Objects.requireNonNull(dataSource, "dataSource"));
  }

  /**
   * Creates the table if it does not exist, in the default schema of the connection. For a database
   * with migrations, {@code kagzi sql outbox} prints the statements instead.
   */
  public void create() throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(Dialect.of(connection).outboxTable());
      if (!connection.getAutoCommit()) {
        connection.commit();
      }
    }
  }

  /** Returns the rows that the server has refused, the oldest first, at most this many. */
  public List<RefusedMessage> refused(int max) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      return OutboxRows.refused(connection, max);
    }
  }

  /**
   * Lets a relay send a refused row again, for example after a namespace was created.
   *
   * @return false if no refused row has this id
   */
  public boolean retry(long id) throws SQLException {
    return change(connection -> OutboxRows.retry(connection, id));
  }

  /**
   * Deletes a refused row, so that later rows with the same key are sent.
   *
   * @return false if no refused row has this id
   */
  public boolean discard(long id) throws SQLException {
    return change(connection -> OutboxRows.discard(connection, id));
  }

  private interface Change {
    boolean in(Connection connection) throws SQLException;
  }

  private boolean change(Change change) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      boolean changed = change.in(connection);
      if (!connection.getAutoCommit()) {
        connection.commit();
      }
      return changed;
    }
  }
}
