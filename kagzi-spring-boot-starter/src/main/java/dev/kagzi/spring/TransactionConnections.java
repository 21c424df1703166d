package dev.kagzi.spring;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Checks that a connection which Spring returns takes part in the current transaction. */
final class TransactionConnections {
  private TransactionConnections() {}

  /**
   * Throws if the connection is in auto-commit mode. A manager of another data source, or one of
   * JPA that does not expose its connection, leaves it in this mode: writes would be committed even
   * if the transaction is rolled back.
   */
  static void check(Connection connection, DataSource dataSource) throws SQLException {
    if (connection.getAutoCommit()) {
      throw new IllegalStateException(
          "the current transaction does not include the data source %s (expected: a transaction manager of this data source)"
              .formatted(dataSource));
    }
  }
}
