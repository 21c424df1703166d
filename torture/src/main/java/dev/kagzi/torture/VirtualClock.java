package dev.kagzi.torture;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;

/** The database's clock, set from outside; the servers are told to look at it. */
final class VirtualClock {
  private static final String SET =
      "CREATE OR REPLACE FUNCTION kagzi.clock() RETURNS timestamptz LANGUAGE sql STABLE AS $$"
          + " SELECT %s $$";

  // As a server tells the others to look at everything; nobody has this id.
  private static final String WAKE =
      "SELECT pg_notify('kagzi_work', '00000000-0000-0000-0000-000000000000' || chr(10) || '*')";

  private final Connection connection;

  VirtualClock(Connection connection) {
    this.connection = connection;
  }

  /** From then on, as fast as time goes. */
  void runFrom(Instant time) throws SQLException {
    execute(
        SET.formatted("now() + (timestamptz '" + time + "' - timestamptz '" + trueTime() + "')"));
  }

  /** Stands still at that time. */
  void standAt(Instant time) throws SQLException {
    execute(SET.formatted("timestamptz '" + time + "'"));
  }

  private String trueTime() throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT now()::text")) {
      row.next();
      return row.getString(1);
    }
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
      statement.execute(WAKE);
    }
  }
}
