package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/** Locks existing runs in the order of their ids and reads their current state. */
public final class LockRuns {
  /** The first statement of a batch that changes existing runs. */
  public static final String SQL =
      """
      SELECT run_id, namespace, task_queue, workflow_type, version, parent_run_id, parent_step_id,
             schedule_id, retry_policy, status, epoch, ended_epoch, locked_by, attempts, crashes,
             free_epoch, acknowledged_epoch, lost_epoch, taken_from, taken_epoch, waits_for,
             waits_for_all, step_timeout_ms, heartbeat_timeout_ms, detached, simple,
             first_run_id, continued_to,
             clean_up_ms, cancel_epoch,
             CASE WHEN available_at = 'infinity' THEN 9223372036854775807
                  ELSE (extract(epoch FROM available_at) * 1000000)::bigint END AS available_us,
             (extract(epoch FROM kagzi.clock()) * 1000000)::bigint AS now_us
        FROM kagzi.workflow_runs
       WHERE run_id = ANY (?::uuid[])
         AND cron_expr IS NULL
       ORDER BY run_id
         FOR NO KEY UPDATE
      """;

  private LockRuns() {}

  /** Locks the runs that exist, waiting for other transactions. The id order prevents deadlocks. */
  public static Map<RunId, RunRow> lock(Session tx, Collection<RunId> ids) throws SQLException {
    Map<RunId, RunRow> rows = new HashMap<>();
    for (RunRow row : tx.query(SQL).bindUuids(ids, RunId::value).list(RunRow::new)) {
      rows.put(row.runId(), row);
    }
    return rows;
  }
}
