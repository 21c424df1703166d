package dev.kagzi.engine.transition;

import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Json;
import dev.kagzi.engine.value.WorkerId;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

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

  /** The same for a simple client, whose call to begin the step has opened the attempt. */
  static final String OPEN_SQL =
      """
      WITH r AS MATERIALIZED (
        SELECT run_id
          FROM kagzi.workflow_runs
         WHERE run_id = ? AND namespace || '' = ? AND epoch = ? AND status = 'RUNNING'
           AND crashes = 0 AND locked_by = coalesce(?::uuid, locked_by)
           FOR NO KEY UPDATE)
      UPDATE kagzi.step_runs s
         SET status = 'COMPLETED', output = ?, output_metadata = ?::jsonb,
             finished_at = kagzi.clock()
        FROM r
       WHERE s.run_id = r.run_id AND s.step_id = ? AND s.attempt = ? AND s.epoch = ?
         AND s.status = 'RUNNING' AND s.kind <> 'SLEEP'
      """;

  private RecordStep() {}

  /** False when no such attempt was open under the claim; then nothing was changed. */
  static boolean complete(
      Session session, String namespace, Report.StepDone done, @Nullable WorkerId worker)
      throws SQLException {
    Claim claim = done.claim();
    return session
            .query(OPEN_SQL)
            .bind(claim.runId().value())
            .bind(namespace)
            .bind(claim.epoch())
            .bind(worker == null ? null : worker.value())
            .bind(done.output().data())
            .bind(Json.encode(done.output().metadata()))
            .bind(done.stepKey())
            .bind(done.attempt())
            .bind(claim.epoch())
            .update()
        == 1;
  }

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
