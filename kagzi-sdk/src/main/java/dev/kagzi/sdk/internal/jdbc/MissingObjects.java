package dev.kagzi.sdk.internal.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;

/** Explains errors of a database that lacks a function or a table of Kagzi. */
final class MissingObjects {
  // "function does not exist", "schema does not exist"
  private static final Set<String> NO_FUNCTION = Set.of("42883", "3F000");
  // "table does not exist" in PostgreSQL, in MySQL and H2, and in H2 with similar or no tables
  private static final Set<String> NO_TABLE = Set.of("42P01", "42S02", "42S03", "42S04");

  private MissingObjects() {}

  /**
   * Returns the exception to throw for a failed call of a function in the server's database.
   *
   * @param elsewhere the method that works with other databases
   */
  static SQLException function(
      Connection connection, String function, String elsewhere, SQLException e) {
    String state = String.valueOf(e.getSQLState());
    return NO_FUNCTION.contains(state) || isOtherProduct(connection, e)
        ? new SQLException(
            "%s: not in this database (expected: the database of the server; %s works with any other)"
                .formatted(function, elsewhere),
            state,
            e)
        : e;
  }

  private static boolean isOtherProduct(Connection connection, SQLException e) {
    try {
      return !connection.getMetaData().getDatabaseProductName().equalsIgnoreCase("PostgreSQL");
    } catch (SQLException closed) {
      // The first exception, which broke the connection, explains more than this one.
      e.addSuppressed(closed);
      return false;
    }
  }

  /** Returns the exception to throw for a failed insert into the outbox. */
  static SQLException outbox(SQLException e) {
    String state = String.valueOf(e.getSQLState());
    return NO_TABLE.contains(state)
        ? new SQLException(
            "kagzi_outbox: no such table in this database (expected: OutboxTable.in(dataSource).create(),"
                + " or a migration with what `kagzi sql outbox --dialect postgresql|mysql|h2` prints)",
            state,
            e)
        : e;
  }
}
