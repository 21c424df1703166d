package dev.kagzi.sdk.internal.jdbc;

import dev.kagzi.sdk.jdbc.TransactionCode;
import dev.kagzi.sdk.jdbc.Transactions;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Transactions on connections of a data source. Thread-safe. */
public record DataSourceTransactions(DataSource dataSource) implements Transactions {

  @Override
  public <T> T inTransaction(TransactionCode<T> code) throws Exception {
    try (Connection connection = dataSource.getConnection()) {
      boolean autoCommit = connection.getAutoCommit();
      if (autoCommit) {
        connection.setAutoCommit(false);
      }
      T result;
      try {
        result = code.run(connection);
        connection.commit();
      } catch (Throwable e) {
        rollback(connection, autoCommit, e);
        throw e;
      }
      restore(connection, autoCommit);
      return result;
    }
  }

  // A connection that cannot be rolled back is broken; closing it ends its transaction.
  private static void rollback(Connection connection, boolean autoCommit, Throwable why) {
    try {
      connection.rollback();
      if (autoCommit) {
        connection.setAutoCommit(true);
      }
    } catch (SQLException e) {
      why.addSuppressed(e);
    }
  }

  // The transaction is committed: a connection that breaks now must not look like a failure.
  private static void restore(Connection connection, boolean autoCommit) {
    try {
      if (autoCommit) {
        connection.setAutoCommit(true);
      }
    } catch (SQLException e) {
      // The pool notices a broken connection itself.
    }
  }
}
