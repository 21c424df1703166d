package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.step.WriteSteps;
import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.WorkerId;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Records one plain result with a single autocommit statement. It locks the run itself: a join
 * without a lock would compare the epoch of a snapshot, and a stale result could commit after the
 * next claim. A run with crashes takes the batch path, which also resets the crash count.
 */
final class RecordStep {
  // "namespace || ''": see FinishRun.
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
             kagzi.clock() - ? * interval '1 microsecond', kagzi.clock()
        FROM r
      """
          + WriteSteps.RESULT_OF_OPEN_STEP;

  /** Like {@link #SQL}, for a simple client, whose BeginStep call has opened the attempt. */
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

  /**
   * Completes an attempt that BeginStep opened. Returns false, without a change, if the attempt is
   * a sleep, is not open under this claim and worker, or if the run's crash count is not 0 (the
   * batch path resets it).
   */
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
            .bind(Math.max(0, done.ranUs()))
            .count()
        == 1;
  }
}
