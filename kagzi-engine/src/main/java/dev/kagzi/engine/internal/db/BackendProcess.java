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
      SELECT pg_terminate_backend(pid, 5000) AS ended
        FROM pg_stat_activity
       WHERE pid = ? AND backend_start = ?::timestamptz
      """;

  public static BackendProcess of(Session session) throws SQLException {
    return session
        .query(SELF)
        .first(row -> new BackendProcess(row.integer("pid"), row.text("started")))
        .orElseThrow(() -> new SQLException("pg_stat_activity does not show its own reader"));
  }

  /** Terminates this backend through another session; throws if that takes longer than 5 s. */
  public void end(Session other) throws SQLException {
    boolean ended =
        other.query(END).bind(pid).bind(startedAt).first(row -> row.bool("ended")).orElse(true);
    if (!ended) {
      throw new SQLException(
          "backend " + pid + " still runs after pg_terminate_backend (expected: ended within 5 s)");
    }
  }
}
