package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.run.ExpiredRuns;
import dev.kagzi.engine.internal.step.CaughtFailures;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What {@link RunTransitions} needs to know to resume a run, or to recognize a repeated terminate
 * call.
 *
 * @param isPurged whether a purge has deleted steps of the run
 * @param successor another active run that now has the same external id; null: none
 * @param terminatedWith the message of the terminate call; null: the run was not terminated
 * @param failedStep the step whose failure the run ended with; null: none
 * @param undoneBy the first step that began after that failure, because the code caught it; null:
 *     none
 * @param hasMore true if a resume executes a step again: one that was interrupted, or whose failure
 *     no other step followed
 */
record ResumeContext(
    boolean isPurged,
    @Nullable RunId successor,
    @Nullable String terminatedWith,
    @Nullable String failedStep,
    @Nullable String undoneBy,
    boolean hasMore) {

  // A step that followed a failure may belong to an earlier attempt: a resume moves caught failures
  // into the new attempt, but not the steps that followed them.
  static final String SQL =
      """
      SELECT r.run_id, b.run_id AS successor,
             EXISTS (SELECT 1 FROM kagzi.maintenance_tasks t
                      WHERE t.task = '%s' || r.run_id::text) AS purged,
             CASE WHEN r.error -> 'metadata' ->> 'type' = 'terminated'
                  THEN coalesce(r.error ->> 'message', '') END AS terminated_with,
             r.error -> 'metadata' ->> 'step' AS failed_step,
             u.step_id AS undone_by,
             EXISTS (SELECT 1 FROM (
      """
              .formatted(ExpiredRuns.PURGE_TASK)
          + CaughtFailures.UNCOMPLETED_STEPS
          + """
               ) AS o WHERE o.run_attempt = r.attempts AND o.is_last AND NOT o.caught) AS has_more
        FROM unnest(?::uuid[]) AS n (run_id)
        JOIN kagzi.workflow_runs r ON r.run_id = n.run_id
        LEFT JOIN kagzi.workflow_runs b
          ON b.namespace = r.namespace
         AND b.external_id = r.external_id
         AND b.ended = '00000000-0000-0000-0000-000000000000'
         AND b.run_id <> r.run_id
        LEFT JOIN LATERAL (
             SELECT s.step_id
               FROM kagzi.step_runs c
               JOIN kagzi.step_runs s ON s.run_id = c.run_id AND s.started_at > c.finished_at
              WHERE c.run_id = r.run_id AND c.step_id = r.error -> 'metadata' ->> 'step'
                AND c.run_attempt = r.attempts AND c.final AND c.status = 'FAILED'
                AND kagzi.failure_was_handled(c.step_id, s.step_id)
              ORDER BY s.started_at, s.step_id
              LIMIT 1) AS u ON true
      """;

  boolean terminated() {
    return terminatedWith != null;
  }

  static Map<RunId, ResumeContext> read(Session tx, Collection<RunId> runs) throws SQLException {
    Map<RunId, ResumeContext> found = new HashMap<>();
    tx.query(SQL)
        .bindUuids(runs, RunId::value)
        .list(row -> found.put(new RunId(row.uuid("run_id")), map(row)));
    return found;
  }

  private static ResumeContext map(Row row) throws SQLException {
    UUID successor = row.uuidOrNull("successor");
    return new ResumeContext(
        row.bool("purged"),
        successor == null ? null : new RunId(successor),
        row.textOrNull("terminated_with"),
        row.textOrNull("failed_step"),
        row.textOrNull("undone_by"),
        row.bool("has_more"));
  }
}
