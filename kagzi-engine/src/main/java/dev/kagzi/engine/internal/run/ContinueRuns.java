package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.TypeVersion;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Starts the successors of runs that continue as new. A successor copies the row of its
 * predecessor, under whose lock it is inserted.
 */
public final class ContinueRuns {
  // Without ON CONFLICT: the predecessor has released its external id in this transaction, and any
  // other start with it waits for this transaction. A successor that is not inserted would be lost.
  //
  // Only the first run of a chain has the slot of its schedule (fire_at). All runs of the chain
  // have the schedule_id, because the overlap policy counts the open runs of the schedule.
  //
  // A run that an older server started has no chain_deadline. If it has a deadline, its
  // deadline_at, the earlier of deadline and execution timeout, is used instead.
  public static final String SQL =
      """
      WITH n AS (
        SELECT * FROM unnest(?::uuid[], ?::int[], ?::uuid[], ?::text[])
                        AS x (old_id, epoch, new_id, version)),
      r AS (
        INSERT INTO kagzi.workflow_runs
               (run_id, namespace, external_id, task_queue, workflow_type, version, retry_policy,
                origin, parent_run_id, parent_step_id, detached, failed_run_id, retry_of,
                schedule_id, status, available_at, created_at, headers, deadline_at,
                execution_timeout_ms, deadline_after_ms, chain_deadline, chain_deadline_after_ms,
                step_timeout_ms,
                heartbeat_timeout_ms, on_failure_workflow, on_failure_task_queue, continued_from,
                first_run_id, clean_up_ms)
        SELECT n.new_id, o.namespace, o.external_id, o.task_queue, o.workflow_type, n.version,
               o.retry_policy, o.origin, o.parent_run_id, o.parent_step_id, o.detached,
               o.failed_run_id, o.retry_of, o.schedule_id, 'PENDING', t.now, t.now, o.headers,
               d.deadline_at, o.execution_timeout_ms,
               CASE WHEN c.chain_deadline IS NOT NULL AND d.deadline_at > t.now
                    THEN ceil(extract(epoch FROM d.deadline_at - t.now) * 1000)::bigint END,
               c.chain_deadline,
               CASE WHEN c.chain_deadline > t.now
                    THEN ceil(extract(epoch FROM c.chain_deadline - t.now) * 1000)::bigint END,
               o.step_timeout_ms, o.heartbeat_timeout_ms, o.on_failure_workflow,
               o.on_failure_task_queue, o.run_id, coalesce(o.first_run_id, o.run_id),
               o.clean_up_ms
          FROM n
          JOIN kagzi.workflow_runs o ON o.run_id = n.old_id
         CROSS JOIN (SELECT kagzi.clock() AS now) AS t
         CROSS JOIN LATERAL (
               SELECT coalesce(o.chain_deadline,
                               CASE WHEN o.deadline_after_ms IS NOT NULL THEN o.deadline_at END)
                        AS chain_deadline) AS c
         CROSS JOIN LATERAL (
               SELECT least(t.now + o.execution_timeout_ms * interval '1 millisecond',
                            c.chain_deadline) AS deadline_at) AS d
        RETURNING run_id, namespace, task_queue, workflow_type, version, status, deadline_at,
                  created_at),
      u AS (
        UPDATE kagzi.workflow_runs o
           SET continued_to = n.new_id
          FROM n
         WHERE o.run_id = n.old_id AND o.epoch = n.epoch),
      """
          + InsertRuns.COUNTED
          + """
            SELECT run_id, namespace, task_queue, workflow_type, version,
                   ceil(extract(epoch FROM deadline_at - created_at) * 1000)::bigint AS expires_ms
              FROM r
            """;

  // The lookups below go run by run (LATERAL). While there are no chains, the planner would
  // otherwise choose a scan of the whole index and cache that plan.

  /** Of each run: the steps of its open children that are not detached, and all callback steps. */
  public static final String OPEN_STEPS_SQL =
      """
      SELECT n.run_id, s.step_id, s.callback
        FROM unnest(?::uuid[]) AS n (run_id)
       CROSS JOIN LATERAL (
             (SELECT c.parent_step_id AS step_id, false AS callback
                FROM kagzi.workflow_runs c
               WHERE c.parent_run_id = n.run_id
                 AND c.finished_at IS NULL
                 AND c.detached IS NOT TRUE
               LIMIT ?)
             UNION ALL
             SELECT b.step_id, true
               FROM kagzi.step_runs b
              WHERE b.run_id = n.run_id AND b.kind = 'CALLBACK') AS s
       ORDER BY s.step_id
      """;

  /** The last run of each chain: the only one that has not continued as new. */
  public static final String LAST_SQL =
      """
      SELECT n.run_id, l.run_id AS last_run_id
        FROM unnest(?::uuid[], ?::uuid[]) AS n (run_id, first_run_id)
       CROSS JOIN LATERAL (
             SELECT x.run_id
               FROM kagzi.workflow_runs x
              WHERE x.first_run_id = n.first_run_id AND x.continued_to IS NULL
              LIMIT 1) AS l
      """;

  private ContinueRuns() {}

  /**
   * A run to be started.
   *
   * @param from its predecessor, which ends in this transaction
   */
  public record Successor(RunRow from, RunId runId, String version, Payload input) {}

  /**
   * A run that was started.
   *
   * @param expiresMs from its start to its deadline; null: it has none
   */
  public record Started(RunId runId, QueueName queue, TypeVersion type, @Nullable Long expiresMs) {
    /** Call it after the commit. */
    public void publish(RunEvents events) {
      events.started(queue, type, runId);
      if (expiresMs != null) {
        events.expires(Math.max(0, expiresMs));
      }
      events.runDue(queue, type, 0);
    }
  }

  public static List<Started> insert(Session tx, List<Successor> successors) throws SQLException {
    return tx.query(SQL)
        .bindUuids(successors, each -> each.from().runId().value())
        .bindInts(successors, each -> each.from().epoch())
        .bindUuids(successors, each -> each.runId().value())
        .bindTexts(successors, Successor::version)
        .list(ContinueRuns::started);
  }

  private static Started started(Row row) throws SQLException {
    return new Started(
        row.runId("run_id"),
        new QueueName(row.text("namespace"), row.text("task_queue")),
        new TypeVersion(row.text("workflow_type"), row.text("version")),
        row.bigintOrNull("expires_ms"));
  }

  /** A step that may keep its run from continuing as new: of an open child, or of a callback. */
  public record OpenStep(RunId runId, String stepKey, boolean isCallback) {}

  public static List<OpenStep> openSteps(Session tx, Collection<RunId> runs, int childrenMax)
      throws SQLException {
    return tx.query(OPEN_STEPS_SQL)
        .bindUuids(runs, RunId::value)
        .bind(childrenMax)
        .list(
            row ->
                new OpenStep(
                    row.runId("run_id"), row.textOrEmpty("step_id"), row.bool("callback")));
  }

  public static Map<RunId, RunId> lastRuns(Session tx, Collection<RunRow> runs)
      throws SQLException {
    Map<RunId, RunId> last = new HashMap<>();
    tx.query(LAST_SQL)
        .bindUuids(runs, run -> run.runId().value())
        .bindUuids(runs, run -> run.chainId().value())
        .list(row -> last.put(row.runId("run_id"), row.runId("last_run_id")));
    return last;
  }

  /** Names the successor of a run, and the last run of the chain if that is another one. */
  public static String describe(RunId run, @Nullable RunId successor, RunId last) {
    String text = "run %s has continued as run %s".formatted(run, successor);
    return Objects.equals(successor, last) ? text : text + "; the last run of the chain is " + last;
  }
}
