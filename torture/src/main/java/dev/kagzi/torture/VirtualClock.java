package dev.kagzi.torture;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;

/** The database's clock, set from outside; the servers are told to look at it. */
final class VirtualClock {
  // As a server tells the others to look at everything; nobody has this id.
  private static final String WAKE =
      "SELECT pg_notify('kagzi_work', '00000000-0000-0000-0000-000000000000' || chr(10) || '*')";

  // Workers that are connected beat, whatever the clock does, and so do servers: their silence does
  // not grow by the move. Leases do: a run that is executed just then goes to somebody else.
  private static final String KEEP =
      """
      WITH shift AS (SELECT ?::timestamptz - kagzi.clock() AS by),
      alive AS (
        UPDATE kagzi.workers SET last_heartbeat_at = last_heartbeat_at + shift.by
          FROM shift
         WHERE worker_id IN (SELECT worker_id FROM kagzi.workers
                              WHERE status <> 'OFFLINE' AND attach_id IS NOT NULL
                                FOR UPDATE SKIP LOCKED))
      UPDATE kagzi.servers SET heartbeat_at = heartbeat_at + shift.by
        FROM shift
       WHERE server_id IN (SELECT server_id FROM kagzi.servers FOR UPDATE SKIP LOCKED)
      """;

  private final SteadyConnection database;

  VirtualClock(SteadyConnection database) {
    this.database = database;
  }

  /** From then on, as fast as time goes. */
  void runFrom(Instant time) throws SQLException {
    database.use(
        connection -> {
          String now = trueTime(connection);
          move(
              connection, time, "now() + (timestamptz '" + time + "' - timestamptz '" + now + "')");
          return time;
        });
  }

  /** Stands still at that time. */
  void standAt(Instant time) throws SQLException {
    database.use(
        connection -> {
          move(connection, time, "timestamptz '" + time + "'");
          return time;
        });
  }

  private static String trueTime(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT now()::text")) {
      row.next();
      return row.getString(1);
    }
  }

  private static void move(Connection connection, Instant to, String expression)
      throws SQLException {
    connection.setAutoCommit(false);
    try (PreparedStatement keep = connection.prepareStatement(KEEP);
        Statement statement = connection.createStatement()) {
      // Not amid a transaction: one that decides on a slot and writes its run would see two times.
      statement.execute("LOCK TABLE kagzi.workflow_runs IN EXCLUSIVE MODE");
      keep.setString(1, to.toString());
      keep.execute();
      statement.execute(
          "CREATE OR REPLACE FUNCTION kagzi.clock() RETURNS timestamptz LANGUAGE sql STABLE AS $$"
              + " SELECT "
              + expression
              + " $$");
      connection.commit();
      connection.setAutoCommit(true);
      statement.execute(WAKE);
    }
  }
}
