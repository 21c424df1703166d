package dev.kagzi.engine.report;

import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Json;
import java.sql.SQLException;

/**
 * Records one plain result by a statement that commits itself. The run's lock is taken inside: a
 * join alone would judge by a snapshot, and a stale result could commit after the next claim. A run
 * that was taken over is left to the long way, which also resets its count of crashes.
 */
final class RecordStep {
  // The namespace is compared in a form that no index has. On an empty table the planner finds the
  // index of lists as good as the primary key, keeps that plan, and walks all runs of the
  // namespace.
  static final String SQL =
      """
      WITH r AS MATERIALIZED (
        SELECT run_id, attempts
          FROM kagzi.workflow_runs
         WHERE run_id = ? AND namespace || '' = ? AND epoch = ? AND status = 'RUNNING'
           AND crashes = 0
           FOR NO KEY UPDATE)
      INSERT INTO kagzi.step_runs (run_id, step_id, attempt, epoch, run_attempt, kind, status,
                                   output, output_metadata, created_at, started_at, finished_at)
      SELECT r.run_id, ?, 1, ?, r.attempts, 'FUNCTION', 'COMPLETED', ?, ?::jsonb, kagzi.clock(),
             kagzi.clock() - ? * interval '1 millisecond', kagzi.clock()
        FROM r
          ON CONFLICT (run_id, step_id, attempt) DO UPDATE
             SET status = 'COMPLETED', epoch = excluded.epoch, output = excluded.output,
                 started_at = CASE WHEN step_runs.epoch = excluded.epoch
                                   THEN step_runs.started_at ELSE excluded.started_at END,
                 output_metadata = excluded.output_metadata, finished_at = excluded.finished_at
           WHERE step_runs.status = 'RUNNING'
      """;

  private RecordStep() {}

  /** False when it was not recorded, for whatever reason; then nothing was changed. */
  static boolean apply(Session session, String namespace, Report.StepDone done)
      throws SQLException {
    Claim claim = done.claim();
    return session
            .query(SQL)
            .bind(claim.runId().value())
            .bind(namespace)
            .bind(claim.epoch())
            .bind(done.stepKey())
            .bind(claim.epoch())
            .bind(done.output().data())
            .bind(Json.encode(done.output().metadata()))
            .bind(Math.max(0, done.ranMs()))
            .update()
        == 1;
  }
}
