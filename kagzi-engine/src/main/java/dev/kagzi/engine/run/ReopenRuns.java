package dev.kagzi.engine.run;

import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** What a run needs beside its row when it goes on after its end. */
public final class ReopenRuns {
  /** The run's time begins anew. */
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

  /** Answers after how many milliseconds the first of them has to be over; null when none has. */
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
