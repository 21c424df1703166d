package dev.kagzi.torture;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;

/** Sets the database's clock, and notifies the servers to check for due work. */
final class VirtualClock {
  // The notification with which a server asks all others to check all queues; no server has this
  // id.
  private static final String WAKE =
      "SELECT pg_notify('kagzi_work', '00000000-0000-0000-0000-000000000000' || chr(10) || '*')";

  // Connected workers and servers send heartbeats independent of the clock, so their heartbeat
  // times move with it. Leases do not: a run that executes at that moment goes to another worker.
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

  /** Lets the clock run from this time at normal speed. */
  void runFrom(Instant time) throws SQLException {
    database.use(
        connection -> {
          String now = trueTime(connection);
          move(
              connection, time, "now() + (timestamptz '" + time + "' - timestamptz '" + now + "')");
          return time;
        });
  }

  /** Stops the clock at this time. */
  void stopAt(Instant time) throws SQLException {
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
      // The lock excludes transactions: one that decides on a slot and writes its run would see two
      // times.
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
