package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.List;

public final class OverdueRuns {
  public static final String SQL =
      """
      SELECT run_id
        FROM kagzi.workflow_runs
       WHERE deadline_at IS NOT NULL AND available_at IS NOT NULL AND cron_expr IS NULL
         AND deadline_at <= kagzi.clock()
       ORDER BY deadline_at
       LIMIT ?
      """;

  private OverdueRuns() {}

  public static List<RunId> find(Session session, int max) throws SQLException {
    return session.query(SQL).bind(max).list(row -> row.runId("run_id"));
  }
}
