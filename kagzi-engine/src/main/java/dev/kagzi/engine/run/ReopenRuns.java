package dev.kagzi.engine.run;

import dev.kagzi.engine.db.Session;
import java.sql.SQLException;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** Renews the deadlines of runs that are resumed. */
public final class ReopenRuns {
  /** Sets the deadline again, from now. */
  public static final String RENEW_DEADLINES_SQL =
      """
      UPDATE kagzi.workflow_runs r
         SET deadline_at = kagzi.clock()
               + coalesce(r.deadline_after_ms, r.execution_timeout_ms) * interval '1 millisecond'
        FROM unnest(?::uuid[], ?::int[]) AS n (run_id, epoch)
       WHERE r.run_id = n.run_id AND r.epoch = n.epoch
         AND coalesce(r.deadline_after_ms, r.execution_timeout_ms) IS NOT NULL
      RETURNING coalesce(r.deadline_after_ms, r.execution_timeout_ms) AS time_ms
      """;

  private ReopenRuns() {}

  /** Returns the milliseconds to the earliest new deadline; null if no run has one. */
  public static @Nullable Long renewDeadlines(Session tx, Collection<RunRow> runs)
      throws SQLException {
    return tx
        .query(RENEW_DEADLINES_SQL)
        .bindUuids(runs, row -> row.runId().value())
        .bindInts(runs, RunRow::epoch)
        .list(row -> row.bigint("time_ms"))
        .stream()
        .min(Long::compare)
        .orElse(null);
  }
}
