package dev.kagzi.engine.internal.step;

import dev.kagzi.engine.internal.db.Query;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes step attempts of runs that the lane has locked. An existing row is changed only while it
 * is RUNNING, so the result of a completed attempt is never replaced. If a new claim executes a
 * function again after a crash, {@code started_at} is that of the new execution.
 *
 * <p>The transition has checked the claim under the lock, so no epoch is compared here.
 */
public final class WriteSteps {
  /** The last clauses of an INSERT of results: an attempt that is open gets the result. */
  public static final String RESULT_OF_OPEN_STEP =
      """
          ON CONFLICT (run_id, step_id, attempt) DO UPDATE
             SET status = 'COMPLETED', epoch = excluded.epoch, output = excluded.output,
                 started_at = CASE WHEN step_runs.epoch = excluded.epoch
                                   THEN step_runs.started_at ELSE excluded.started_at END,
                 output_metadata = excluded.output_metadata, finished_at = excluded.finished_at
           WHERE step_runs.status = 'RUNNING'
      RETURNING 1
      """;

  /** Inserts plain results, the most common kind. */
  public static final String PLAIN_SQL =
      """
      INSERT INTO kagzi.step_runs (run_id, step_id, attempt, epoch, run_attempt, kind, status,
                                   output, output_metadata, created_at, started_at, finished_at)
      SELECT n.run_id, n.step_id, n.attempt, n.epoch, n.run_attempt, 'FUNCTION', 'COMPLETED',
             n.output, n.metadata::jsonb, kagzi.clock(),
             kagzi.clock() - n.ran_us * interval '1 microsecond', kagzi.clock()
        FROM unnest(?::uuid[], ?::text[], ?::int[], ?::int[], ?::int[], ?::bytea[], ?::text[],
                    ?::bigint[])
               AS n (run_id, step_id, attempt, epoch, run_attempt, output, metadata, ran_us)
      """
          + RESULT_OF_OPEN_STEP;

  /** Inserts attempts of every kind; {@link #PLAIN_SQL} is faster, for plain results. */
  public static final String SQL =
      """
      INSERT INTO kagzi.step_runs (run_id, step_id, attempt, epoch, run_attempt, kind, status, final,
                                   input, input_metadata, output, output_metadata, error,
                                   retry_policy, due_at, timeout_at, created_at, started_at,
                                   finished_at, child_run_id, input_hash, progress,
                                   progress_metadata, name)
      SELECT n.run_id, n.step_id, n.attempt, n.epoch, n.run_attempt, n.kind, n.status, n.final,
             n.input, n.input_metadata::jsonb, n.output, n.output_metadata::jsonb, n.error::jsonb,
             n.retry_policy::jsonb, kagzi.at(n.due_us), kagzi.at(n.timeout_us), t.now,
             t.now - n.ran_us * interval '1 microsecond',
             CASE WHEN n.status IN ('COMPLETED', 'FAILED') THEN t.now END,
             n.child_run_id, n.input_hash, n.progress, n.progress_metadata::jsonb, n.name
        FROM unnest(?::uuid[], ?::text[], ?::int[], ?::int[], ?::int[], ?::text[], ?::text[],
                    ?::boolean[], ?::bytea[], ?::text[], ?::bytea[], ?::text[], ?::text[],
                    ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::uuid[], ?::text[],
                    ?::bytea[], ?::text[], ?::text[])
               AS n (run_id, step_id, attempt, epoch, run_attempt, kind, status, final, input,
                     input_metadata, output, output_metadata, error, retry_policy, due_us,
                     timeout_us, ran_us, child_run_id, input_hash, progress, progress_metadata,
                     name)
       CROSS JOIN (SELECT kagzi.clock() AS now) AS t
          ON CONFLICT (run_id, step_id, attempt) DO UPDATE
             SET status = excluded.status, epoch = excluded.epoch,
                 run_attempt = excluded.run_attempt, final = excluded.final,
                 input = coalesce(step_runs.input, excluded.input),
                 input_metadata = coalesce(step_runs.input_metadata, excluded.input_metadata),
                 output = excluded.output, output_metadata = excluded.output_metadata,
                 error = excluded.error,
                 retry_policy = coalesce(step_runs.retry_policy, excluded.retry_policy),
                 due_at = excluded.due_at, timeout_at = excluded.timeout_at,
                 started_at = CASE WHEN step_runs.epoch = excluded.epoch
                                     OR excluded.kind <> 'FUNCTION'
                                   THEN step_runs.started_at ELSE excluded.started_at END,
                 finished_at = excluded.finished_at,
                 child_run_id = coalesce(step_runs.child_run_id, excluded.child_run_id),
                 input_hash = coalesce(step_runs.input_hash, excluded.input_hash),
                 progress = coalesce(excluded.progress, step_runs.progress),
                 progress_metadata = CASE WHEN excluded.progress IS NULL
                                          THEN step_runs.progress_metadata
                                          ELSE excluded.progress_metadata END
           WHERE step_runs.status = 'RUNNING'
      RETURNING 1
      """;

  private WriteSteps() {}

  /** Returns how many rows were written; fewer than given if some steps already had a result. */
  public static int writePlain(Session tx, List<StepRow> steps) throws SQLException {
    return attempts(tx, PLAIN_SQL, steps)
        .bindBytes(steps, s -> data(s.output()))
        .bindTexts(steps, s -> metadata(s.output()))
        .bindLongs(steps, StepRow::ranUs)
        .count();
  }

  /** Like {@link #writePlain}, for attempts of any kind. */
  public static int write(Session tx, List<StepRow> steps) throws SQLException {
    return attempts(tx, SQL, steps)
        .bindTexts(steps, s -> s.kind().name())
        .bindTexts(steps, s -> s.status().name())
        .bindBooleans(steps, StepRow::isFinal)
        .bindBytes(steps, s -> data(s.input()))
        .bindTexts(steps, s -> metadata(s.input()))
        .bindBytes(steps, s -> data(s.output()))
        .bindTexts(steps, s -> metadata(s.output()))
        .bindTexts(steps, s -> json(s.failure()))
        .bindTexts(steps, StepRow::retryPolicy)
        .bindNullableLongs(steps, StepRow::dueUs)
        .bindNullableLongs(steps, StepRow::timeoutUs)
        .bindLongs(steps, StepRow::ranUs)
        .bindUuids(steps, s -> s.child() == null ? null : s.child().value())
        .bindTexts(steps, StepRow::inputHash)
        .bindBytes(steps, s -> data(s.progress()))
        .bindTexts(steps, s -> metadata(s.progress()))
        .bindTexts(steps, StepRow::name)
        .count();
  }

  private static Query attempts(Session tx, String sql, List<StepRow> steps) throws SQLException {
    return tx.query(sql)
        .bindUuids(steps, s -> s.runId().value())
        .bindTexts(steps, StepRow::stepKey)
        .bindInts(steps, StepRow::attempt)
        .bindInts(steps, StepRow::epoch)
        .bindInts(steps, StepRow::runAttempt);
  }

  private static byte @Nullable [] data(@Nullable Payload payload) {
    return payload == null ? null : payload.data();
  }

  private static @Nullable String metadata(@Nullable Payload payload) {
    return payload == null ? null : Json.encode(payload.metadata());
  }

  private static @Nullable String json(@Nullable Failure failure) {
    return failure == null ? null : Json.encode(failure);
  }
}
