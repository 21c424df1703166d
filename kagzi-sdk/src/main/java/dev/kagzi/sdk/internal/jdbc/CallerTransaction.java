package dev.kagzi.sdk.internal.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/** The transaction of a caller, which a start or a signal joins. */
final class CallerTransaction {
  private CallerTransaction() {}

  /**
   * Checks that the connection has a transaction that the caller ends.
   *
   * @throws IllegalStateException if each statement of the connection commits by itself: the start
   *     would not depend on the caller's other statements
   */
  static void check(Connection connection, String method) throws SQLException {
    if (connection.getAutoCommit()) {
      throw new IllegalStateException(
          method
              + ": the connection is in auto-commit mode, so there is no transaction to join"
              + " (expected: connection.setAutoCommit(false) before your first statement, and"
              + " connection.commit() after this call)");
    }
  }
}
