package dev.kagzi.engine.run;

import dev.kagzi.engine.db.Row;
import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Locks existing runs in the order of their ids and reads their current state. */
public final class LockRuns {
  /** The first statement of every transaction that changes existing runs. */
  public static final String SQL =
      """
      SELECT run_id, namespace, task_queue, workflow_type, version, parent_run_id, parent_step_id,
             schedule_id, retry_policy, status, epoch, ended_epoch, locked_by, attempts, crashes,
             free_epoch, heard_epoch, lost_epoch, taken_from, taken_epoch, waits_for, waits_for_all,
             step_timeout_ms, heartbeat_timeout_ms, detached,
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
    for (RunRow row : tx.query(SQL).bindUuids(ids, RunId::value).list(LockRuns::map)) {
      rows.put(row.runId(), row);
    }
    return rows;
  }

  private static RunRow map(Row row) throws SQLException {
    return new RunRow(
        new RunRow.Identity(
            new RunId(row.uuid("run_id")),
            new QueueName(row.text("namespace"), row.text("task_queue")),
            new TypeVersion(row.text("workflow_type"), row.text("version")),
            run(row.uuidOrNull("parent_run_id")),
            row.textOrNull("parent_step_id"),
            run(row.uuidOrNull("schedule_id")),
            row.textOrNull("retry_policy"),
            row.bigintOrNull("step_timeout_ms"),
            row.bigintOrNull("heartbeat_timeout_ms"),
            row.bool("detached")),
        new RunRow.State(
            RunStatus.valueOf(row.text("status")),
            row.integer("epoch"),
            row.integer("ended_epoch"),
            row.integerOrNull("free_epoch"),
            row.integerOrNull("heard_epoch"),
            row.integerOrNull("lost_epoch"),
            worker(row.uuidOrNull("locked_by")),
            worker(row.uuidOrNull("taken_from")),
            row.integerOrNull("taken_epoch"),
            row.bigintOrNull("available_us"),
            row.integer("attempts"),
            row.integer("crashes"),
            row.texts("waits_for"),
            row.bool("waits_for_all")),
        row.bigint("now_us"));
  }

  private static @Nullable RunId run(@Nullable UUID id) {
    return id == null ? null : new RunId(id);
  }

  private static @Nullable WorkerId worker(@Nullable UUID id) {
    return id == null ? null : new WorkerId(id);
  }
}
