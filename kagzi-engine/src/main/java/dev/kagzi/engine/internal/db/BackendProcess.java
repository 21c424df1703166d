package dev.kagzi.engine.internal.db;

import java.sql.SQLException;

/** PostgreSQL's server process of a session: its pid, and its start time, since pids are reused. */
public record BackendProcess(int pid, String startedAt) {
  private static final String SELF =
      """
      SELECT pid, backend_start::text AS started
        FROM pg_stat_activity
       WHERE pid = pg_backend_pid()
      """;

  private static final String END =
      """
      SELECT wait_event IS NOT DISTINCT FROM 'SyncRep' AS waits,
             CASE WHEN wait_event IS NOT DISTINCT FROM 'SyncRep' THEN false
                  ELSE pg_terminate_backend(pid, 5000) END AS ended
        FROM pg_stat_activity
       WHERE pid = ? AND backend_start = ?::timestamptz
      """;

  private static final String END_OTHERS =
      """
      SELECT pg_terminate_backend(pid) AS ended
        FROM pg_stat_activity
       WHERE application_name LIKE 'kagzi%' AND datname = current_database()
         AND usename = current_user AND pid <> pg_backend_pid()
         AND wait_event IS DISTINCT FROM 'SyncRep'
      """;

  /**
   * Terminates the backends of all other sessions of servers on this database, except backends that
   * wait for a synchronous standby. The servers then open new sessions.
   */
  static void endOthers(Session session) throws SQLException {
    session.query(END_OTHERS).list(row -> row.bool("ended"));
  }

  public static BackendProcess of(Session session) throws SQLException {
    return session
        .query(SELF)
        .first(row -> new BackendProcess(row.integer("pid"), row.text("started")))
        .orElseThrow(() -> new SQLException("pg_stat_activity does not show its own reader"));
  }

  /**
   * Terminates this backend through another session. Throws if this takes longer than 5 s. Also
   * throws, without terminating it, if the backend waits for a synchronous standby: its commit
   * would become visible although the standby may not have it.
   */
  public void end(Session other) throws SQLException {
    Ended end =
        other
            .query(END)
            .bind(pid)
            .bind(startedAt)
            .first(row -> new Ended(row.bool("ended"), row.bool("waits")))
            .orElse(new Ended(true, false));
    if (!end.ended) {
      throw new SQLException(
          end.waits
              ? "the commit of backend %d waits for a synchronous standby (expected: one that answers)"
                  .formatted(pid)
              : "backend %d still runs after pg_terminate_backend (expected: ended within 5 s)"
                  .formatted(pid));
    }
  }

  private record Ended(boolean ended, boolean waits) {}
}
