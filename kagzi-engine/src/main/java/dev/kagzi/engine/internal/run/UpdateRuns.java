package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.WorkerId;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Writes the runs that a batch has locked and changed. */
public final class UpdateRuns {
  /** Compares the epoch although the rows are locked, as a second fence. */
  public static final String SQL =
      """
      WITH c AS (
        INSERT INTO kagzi.run_changes
               (namespace, task_queue, workflow_type, version, from_status, to_status, runs)
        SELECT n.namespace, n.task_queue, n.workflow_type, n.version, n.from_status,
               n.to_status, n.runs
          FROM unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::int[])
                 AS n (namespace, task_queue, workflow_type, version, from_status, to_status, runs))
      UPDATE kagzi.workflow_runs r
         SET status = n.status,
             available_at = kagzi.at(n.available_us),
             locked_by = n.locked_by,
             taken_from = n.taken_from,
             taken_epoch = n.taken_epoch,
             lost_epoch = coalesce(r.lost_epoch, n.taken_epoch),
             ended_epoch = n.ended_epoch,
             attempts = n.attempts,
             crashes = n.crashes,
             error = CASE WHEN n.ended THEN n.error::jsonb
                          ELSE coalesce(n.error::jsonb, r.error) END,
             blocked_by = n.blocked_by::jsonb,
             waits_for = string_to_array(n.waits_for, E'\\n'),
             waits_for_all = n.waits_for_all,
             finished_at = CASE WHEN n.ended THEN t.now END,
             ended = CASE WHEN n.ended THEN r.run_id
                          ELSE '00000000-0000-0000-0000-000000000000' END
        FROM unnest(?::uuid[], ?::int[], ?::text[], ?::bigint[], ?::uuid[], ?::uuid[], ?::int[],
                    ?::int[], ?::int[], ?::int[], ?::text[], ?::text[], ?::text[], ?::boolean[],
                    ?::boolean[])
               AS n (run_id, epoch, status, available_us, locked_by, taken_from, taken_epoch,
                     ended_epoch, attempts, crashes, error, blocked_by, waits_for, waits_for_all,
                     ended),
             (SELECT kagzi.clock() AS now) AS t
       WHERE r.run_id = n.run_id
         AND r.epoch = n.epoch
      """;

  public static final String ACKNOWLEDGE_SQL =
      """
      UPDATE kagzi.workflow_runs r
         SET acknowledged_epoch = n.epoch,
             simple = CASE WHEN n.simple THEN true ELSE r.simple END
        FROM unnest(?::uuid[], ?::int[], ?::boolean[]) AS n (run_id, epoch, simple)
       WHERE r.run_id = n.run_id AND r.epoch = n.epoch
      """;

  /**
   * Sets the deadline again: its original duration, counted from now. A deadline that had already
   * passed at the start of the run is replaced by the execution timeout, or removed if there is
   * none. The deadline of the run's chain moves with it. A requested cancel is cleared as well;
   * each run with one has a deadline, because the request sets it.
   */
  public static final String RENEW_DEADLINES_SQL =
      """
      UPDATE kagzi.workflow_runs r
         SET deadline_at = t.now
               + coalesce(r.deadline_after_ms, r.execution_timeout_ms) * interval '1 millisecond',
             chain_deadline = t.now + r.chain_deadline_after_ms * interval '1 millisecond',
             cancel_requested_at = NULL, cancel_epoch = NULL
        FROM unnest(?::uuid[], ?::int[]) AS n (run_id, epoch),
             (SELECT kagzi.clock() AS now) AS t
       WHERE r.run_id = n.run_id AND r.epoch = n.epoch
         AND r.deadline_at IS NOT NULL
      RETURNING coalesce(r.deadline_after_ms, r.execution_timeout_ms, -1) AS time_ms
      """;

  /** Sets the end of the clean-up as the deadline, unless the run has an earlier one. */
  public static final String REQUEST_CANCEL_SQL =
      """
      UPDATE kagzi.workflow_runs r
         SET cancel_requested_at = kagzi.clock(), cancel_epoch = r.epoch,
             deadline_at = least(r.deadline_at,
                                 kagzi.clock() + r.clean_up_ms * interval '1 millisecond')
        FROM unnest(?::uuid[], ?::int[]) AS n (run_id, epoch)
       WHERE r.run_id = n.run_id AND r.epoch = n.epoch
      """;

  private UpdateRuns() {}

  /** Stores that cancels of these locked runs were requested. */
  public static void requestCancel(Session tx, Collection<RunRow> rows) throws SQLException {
    tx.query(REQUEST_CANCEL_SQL)
        .bindUuids(rows, r -> r.runId().value())
        .bindInts(rows, RunRow::epoch)
        .update();
  }

  /**
   * Records that workers have received their tasks, because they have made a call about the locked
   * runs. Written once per claim, and not for calls that record a step: the step shows it as well.
   */
  public static void acknowledgeHandOuts(Session tx, Collection<RunRow> rows) throws SQLException {
    tx.query(ACKNOWLEDGE_SQL)
        .bindUuids(rows, r -> r.runId().value())
        .bindInts(rows, RunRow::epoch)
        .bindBooleans(rows, RunRow::isSimple)
        .update();
  }

  /** Like {@link #acknowledgeHandOuts}, for a run that is not locked. */
  public static void acknowledgeHandOut(Session tx, Claim claim) throws SQLException {
    tx.query(ACKNOWLEDGE_SQL)
        .bindUuids(List.of(claim), c -> c.runId().value())
        .bindInts(List.of(claim), Claim::epoch)
        .bindBooleans(List.of(claim), c -> false)
        .update();
  }

  /**
   * Renews the deadlines of resumed runs. Returns the milliseconds to the earliest one; null if
   * none.
   */
  public static @Nullable Long renewDeadlines(Session tx, Collection<RunRow> runs)
      throws SQLException {
    return tx
        .query(RENEW_DEADLINES_SQL)
        .bindUuids(runs, row -> row.runId().value())
        .bindInts(runs, RunRow::epoch)
        .list(row -> row.bigint("time_ms"))
        .stream()
        .filter(timeMs -> timeMs >= 0)
        .min(Long::compare)
        .orElse(null);
  }

  public static void apply(Session tx, List<RunRow> rows) throws SQLException {
    List<RunChange> changes = RunChange.of(rows);
    int updated =
        tx.query(SQL)
            .bindTexts(changes, c -> c.queue().namespace())
            .bindTexts(changes, c -> c.queue().queue())
            .bindTexts(changes, c -> c.type().type())
            .bindTexts(changes, c -> c.type().version())
            .bindTexts(changes, c -> c.from().name())
            .bindTexts(changes, c -> c.to().name())
            .bindInts(changes, RunChange::runs)
            .bindUuids(rows, r -> r.runId().value())
            .bindInts(rows, RunRow::epoch)
            .bindTexts(rows, r -> r.status().name())
            .bindNullableLongs(rows, RunRow::availableUs)
            .bindUuids(rows, r -> id(r.lockedBy()))
            .bindUuids(rows, r -> id(r.takenFrom()))
            .bindNullableInts(rows, RunRow::takenEpoch)
            .bindInts(rows, RunRow::endedEpoch)
            .bindInts(rows, RunRow::attempts)
            .bindInts(rows, RunRow::crashes)
            .bindTexts(rows, r -> json(r.failure()))
            .bindTexts(rows, r -> json(r.blockedBy()))
            .bindTexts(rows, r -> r.waitsFor().isEmpty() ? null : String.join("\n", r.waitsFor()))
            .bindBooleans(rows, RunRow::waitsForAll)
            .bindBooleans(rows, r -> r.status().isFinal())
            .update();
    if (updated != rows.size()) {
      throw new IllegalStateException(
          "runs updated: " + updated + " (expected: " + rows.size() + "; all were locked)");
    }
  }

  private static @Nullable UUID id(@Nullable WorkerId worker) {
    return worker == null ? null : worker.value();
  }

  private static @Nullable String json(@Nullable Failure failure) {
    return failure == null ? null : Json.encode(failure);
  }
}
