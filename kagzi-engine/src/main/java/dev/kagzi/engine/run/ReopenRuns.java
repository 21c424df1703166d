package dev.kagzi.engine.run;

import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** Renews the deadlines of runs that are resumed. */
public final class ReopenRuns {
  /** Sets the deadline again, from now. */
  public static final String RENEW_DEADLINES_SQL =
      """
      UPDATE kagzi.workflow_runs
         SET deadline_at = kagzi.clock()
               + coalesce(deadline_after_ms, execution_timeout_ms) * interval '1 millisecond'
       WHERE run_id = ANY (?::uuid[])
         AND coalesce(deadline_after_ms, execution_timeout_ms) IS NOT NULL
      RETURNING coalesce(deadline_after_ms, execution_timeout_ms) AS time_ms
      """;

  private ReopenRuns() {}

  /** Returns the milliseconds to the earliest new deadline; null if no run has one. */
  public static @Nullable Long renewDeadlines(Session tx, Collection<RunId> runs)
      throws SQLException {
    return tx
        .query(RENEW_DEADLINES_SQL)
        .bindUuids(runs, RunId::value)
        .list(row -> row.bigint("time_ms"))
        .stream()
        .min(Long::compare)
        .orElse(null);
  }
}
