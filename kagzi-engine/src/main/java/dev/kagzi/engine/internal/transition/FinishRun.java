package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.internal.db.Query;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.step.WriteSteps;
import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Payload;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Completes one run with a single autocommit statement, which can also record its last step. The
 * UPDATE is its own fence: it waits for the row lock and compares the epoch again. Runs with a
 * parent or a schedule take the batch path, because their end also changes the parent or the
 * schedule; so do runs whose cancel was requested, because they end as CANCELLED.
 */
final class FinishRun {
  // "namespace || ''" keeps the planner from the namespace index. On an empty table it considers
  // that index as good as the primary key, caches the plan, and later scans all runs of the
  // namespace.
  private static final String COMPLETE =
      """
      WITH u AS (
        UPDATE kagzi.workflow_runs
           SET status = 'COMPLETED', available_at = NULL, locked_by = NULL, blocked_by = NULL,
               ended_epoch = epoch, finished_at = kagzi.clock(), ended = run_id, error = NULL
         WHERE run_id = ? AND namespace || '' = ? AND epoch = ? AND status = 'RUNNING'
           AND parent_run_id IS NULL AND schedule_id IS NULL AND cancel_epoch IS NULL
        RETURNING run_id, epoch, attempts, namespace, task_queue, workflow_type, version),
      c AS (
        INSERT INTO kagzi.run_changes
               (namespace, task_queue, workflow_type, version, from_status, to_status, runs)
        SELECT namespace, task_queue, workflow_type, version, 'RUNNING', 'COMPLETED', 1 FROM u),
      p AS (
        INSERT INTO kagzi.workflow_payloads (run_id, kind, data, metadata, created_at)
        SELECT u.run_id, 'OUTPUT', n.data, n.metadata::jsonb, kagzi.clock()
          FROM u, (VALUES (?::bytea, ?::text)) AS n (data, metadata)
         WHERE n.data IS NOT NULL
            ON CONFLICT DO NOTHING)
      """;

  static final String SQL =
      COMPLETE
          + """
            , s AS (
              INSERT INTO kagzi.step_runs (run_id, step_id, attempt, epoch, run_attempt, kind, status,
                                           output, output_metadata, created_at, started_at,
                                           finished_at)
              SELECT u.run_id, n.step_id, 1, u.epoch, u.attempts, 'FUNCTION', 'COMPLETED', n.output,
                     n.metadata::jsonb, kagzi.clock(),
                     kagzi.clock() - n.ran_us * interval '1 microsecond', kagzi.clock()
                FROM u, (VALUES (?::text, ?::bytea, ?::text, ?::bigint))
                          AS n (step_id, output, metadata, ran_us)
            """
          + WriteSteps.RESULT_OF_OPEN_STEP
          + """
            )
            SELECT (SELECT count(*) FROM s) AS steps, u.workflow_type FROM u
            """;

  /** For an end that was reported without a step result. */
  static final String WITHOUT_STEP_SQL = COMPLETE + "SELECT 1 AS steps, workflow_type FROM u";

  private FinishRun() {}

  record LastStep(String stepKey, Payload output, long ranUs) {}

  /**
   * A run that was completed.
   *
   * @param hasStep false if the step had a result already
   */
  record Finished(boolean hasStep, String workflowType) {}

  /**
   * Returns null if nothing was changed: the claim is not held, or the run needs the batch path.
   */
  static @Nullable Finished apply(
      Session session,
      String namespace,
      Claim claim,
      @Nullable LastStep step,
      @Nullable Payload output)
      throws SQLException {
    Query query =
        session
            .query(step == null ? WITHOUT_STEP_SQL : SQL)
            .bind(claim.runId().value())
            .bind(namespace)
            .bind(claim.epoch())
            .bind(output == null ? null : output.data())
            .bind(output == null ? null : Json.encode(output.metadata()));
    if (step != null) {
      query
          .bind(step.stepKey())
          .bind(step.output().data())
          .bind(Json.encode(step.output().metadata()))
          .bind(step.ranUs());
    }
    return query
        .first(row -> new Finished(row.bigint("steps") == 1, row.text("workflow_type")))
        .orElse(null);
  }
}
