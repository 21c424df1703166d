package dev.kagzi.engine.run;

import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a run needs beside its row when it goes on after its end. */
public final class Reopen {
  /** The active run that has taken the external id meanwhile. */
  public static final String SUCCESSORS_SQL =
      """
      SELECT r.run_id, b.run_id AS successor
        FROM unnest(?::uuid[]) AS n (run_id)
        JOIN kagzi.workflow_runs r ON r.run_id = n.run_id
        JOIN kagzi.workflow_runs b
          ON b.namespace = r.namespace
         AND b.external_id = r.external_id
         AND b.ended = '00000000-0000-0000-0000-000000000000'
         AND b.run_id <> r.run_id
      """;

  /** The run's time begins anew. */
  public static final String RENEW_DEADLINES_SQL =
      """
      UPDATE kagzi.workflow_runs
         SET deadline_at = kagzi.clock() + execution_timeout_ms * interval '1 millisecond'
       WHERE run_id = ANY (?::uuid[])
         AND execution_timeout_ms IS NOT NULL
      RETURNING execution_timeout_ms
      """;

  private Reopen() {}

  public static Map<RunId, RunId> successors(Session tx, Collection<RunId> runs)
      throws SQLException {
    Map<RunId, RunId> found = new HashMap<>();
    tx.query(SUCCESSORS_SQL)
        .bindUuids(runs, RunId::value)
        .list(row -> found.put(new RunId(row.uuid("run_id")), new RunId(row.uuid("successor"))));
    return found;
  }

  /** Answers after how many milliseconds the first of them has to be over; null when none has. */
  public static @Nullable Long renewDeadlines(Session tx, Collection<RunId> runs)
      throws SQLException {
    return tx
        .query(RENEW_DEADLINES_SQL)
        .bindUuids(runs, RunId::value)
        .list(row -> row.bigint("execution_timeout_ms"))
        .stream()
        .min(Long::compare)
        .orElse(null);
  }
}
