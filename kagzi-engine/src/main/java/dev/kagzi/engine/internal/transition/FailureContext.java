package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.db.SqlErrors;
import dev.kagzi.engine.internal.run.FailureHandler;
import dev.kagzi.engine.internal.step.CaughtFailures;
import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.internal.value.SleepSql;
import dev.kagzi.engine.value.Origin;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What {@link RunTransitions} and {@link CancelTransitions} need to know about a run that may fail
 * in this batch, or whose clean-up is requested: its failure handlers, its deadline, and whether it
 * may be retried. Not read for other runs.
 *
 * @param origin FAILURE_HANDLER for a handler run and for a retry of one
 * @param deadlineUs null: no deadline
 * @param handlerType workflow type of the run's own handler; empty for none
 * @param handlerQueue task queue of the run's own handler; empty for the run's queue
 * @param globalQueue task queue of the namespace's failure handler; null for none
 * @param input the run's input, if a handler gets a copy of it
 * @param headers of the run, which its handlers get, too
 * @param lastStep the step that was recorded last, if workers of the run have crashed; null: none
 * @param seenUs when the first final step failure of this attempt was recorded; null: there is
 *     none, or it was not read
 * @param compensated true if steps began after a final step failure, in this attempt or an earlier
 *     one: the code has begun to undo its work. False if it was not read
 */
record FailureContext(
    Origin origin,
    String externalId,
    @Nullable Instant startedAt,
    Instant now,
    @Nullable Long deadlineUs,
    @Nullable Long executionTimeoutMs,
    String handlerType,
    String handlerQueue,
    @Nullable String globalQueue,
    @Nullable Payload input,
    Map<String, String> headers,
    @Nullable String lastStep,
    @Nullable Long seenUs,
    @Nullable String seenStep,
    boolean compensated) {

  /** A larger input is not copied to the handler, which can read it from the failed run. */
  private static final int INPUT_BYTES_MAX = 1 << 20;

  /** Limit of the inputs that one transaction copies; the journal splits a batch with more. */
  private static final long INPUTS_BYTES_MAX = 4L << 20;

  // The namespace's handler runs on the failed run's task queue if an online worker there has
  // registered it. Otherwise it runs on the queue of its last registration. "w.status || ''" keeps
  // the planner from the index on status; the index on queues is the right one.
  static final String SQL =
      """
      SELECT r.run_id,
             CASE WHEN r.failed_run_id IS NULL THEN r.origin ELSE 'FAILURE_HANDLER' END AS origin,
             r.external_id, r.started_at, kagzi.clock() AS now,
             (extract(epoch FROM r.deadline_at) * 1000000)::bigint AS deadline_us,
             CASE WHEN r.deadline_after_ms IS NULL THEN r.execution_timeout_ms END
               AS execution_timeout_ms,
             r.on_failure_workflow, r.on_failure_task_queue, r.headers,
             CASE WHEN m.failure_handler_task_queue IS NULL THEN NULL
                  ELSE coalesce((SELECT w.task_queue FROM kagzi.workers w
                                  WHERE w.namespace = r.namespace
                                    AND w.task_queue = r.task_queue
                                    AND w.status || '' = 'ONLINE'
                                    AND ? = ANY (w.workflow_types)
                                  LIMIT 1),
                                m.failure_handler_task_queue) END AS global_queue,
             CASE WHEN sum(octet_length(p.data)) OVER () <= ? THEN p.data END AS data, p.metadata,
             coalesce(sum(octet_length(p.data)) OVER (), 0) AS inputs_bytes,
             CASE WHEN r.crashes > 0 THEN
               (SELECT e.step_id
                  FROM (SELECT s.step_id, s.kind = 'SLEEP' AS is_sleep,
                               CASE WHEN %s THEN s.created_at ELSE s.finished_at END AS recorded_at
                          FROM kagzi.step_runs s
                         WHERE s.run_id = r.run_id) AS e
                 WHERE e.recorded_at IS NOT NULL
                 ORDER BY e.recorded_at DESC, e.is_sleep DESC, e.step_id
                 LIMIT 1) END AS last_step,
             (extract(epoch FROM f.seen_at) * 1000000)::bigint AS seen_us, f.seen_step,
             n.may_be_retried AND EXISTS (SELECT 1 FROM (
      """
              .formatted(SleepSql.isOver("s", "kagzi.clock()"))
          + CaughtFailures.UNCOMPLETED_STEPS
          + """
               ) AS c WHERE c.caught) AS compensated
        FROM unnest(?::uuid[], ?::boolean[]) AS n (run_id, may_be_retried)
        JOIN kagzi.workflow_runs r ON r.run_id = n.run_id
        LEFT JOIN LATERAL (
             SELECT s.finished_at AS seen_at, s.step_id AS seen_step
               FROM kagzi.step_runs s
              WHERE n.may_be_retried
                AND s.run_id = r.run_id AND s.final AND s.status = 'FAILED'
                AND s.run_attempt = r.attempts
              ORDER BY s.finished_at
              LIMIT 1) AS f ON true
        LEFT JOIN kagzi.namespaces m ON m.namespace = r.namespace
        LEFT JOIN kagzi.workflow_payloads p
          ON p.run_id = r.run_id AND p.kind = 'INPUT'
         AND (r.on_failure_workflow IS NOT NULL OR m.failure_handler_task_queue IS NOT NULL)
         AND octet_length(p.data) <= ?
      """;

  /**
   * Reads the contexts, including the inputs that handlers get.
   *
   * @param runs the runs; true for those whose code has failed and that have a retry policy: only
   *     for them it reads whether they have begun to undo their work
   * @throws SQLException with {@link SqlErrors#LIMIT_EXCEEDED} if the inputs are too large for one
   *     transaction
   */
  static Map<RunId, FailureContext> read(Session tx, Map<RunId, Boolean> runs) throws SQLException {
    List<Map.Entry<RunId, Boolean>> all = List.copyOf(runs.entrySet());
    Map<RunId, FailureContext> found = new HashMap<>();
    tx.query(SQL)
        .bind(FailureHandler.TYPE)
        .bind(INPUTS_BYTES_MAX)
        .bindUuids(all, run -> run.getKey().value())
        .bindBooleans(all, Map.Entry::getValue)
        .bind(INPUT_BYTES_MAX)
        .list(
            row -> {
              checkInputs(row.bigint("inputs_bytes"));
              return found.put(new RunId(row.uuid("run_id")), map(row));
            });
    return found;
  }

  private static void checkInputs(long bytes) throws SQLException {
    if (bytes > INPUTS_BYTES_MAX) {
      throw new SQLException(
          "inputs of failing runs: %d bytes (expected: at most %d in one transaction)"
              .formatted(bytes, INPUTS_BYTES_MAX),
          SqlErrors.LIMIT_EXCEEDED);
    }
  }

  private static FailureContext map(Row row) throws SQLException {
    byte[] data = row.bytes("data");
    return new FailureContext(
        Origin.valueOf(row.text("origin")),
        orEmpty(row.textOrNull("external_id")),
        row.timeOrNull("started_at"),
        row.time("now"),
        row.bigintOrNull("deadline_us"),
        row.bigintOrNull("execution_timeout_ms"),
        orEmpty(row.textOrNull("on_failure_workflow")),
        orEmpty(row.textOrNull("on_failure_task_queue")),
        row.textOrNull("global_queue"),
        data == null ? null : new Payload(data, Json.decode(row.textOrNull("metadata"))),
        Json.decodeUncached(row.textOrNull("headers")),
        row.textOrNull("last_step"),
        row.bigintOrNull("seen_us"),
        row.textOrNull("seen_step"),
        row.bool("compensated"));
  }

  private static String orEmpty(@Nullable String text) {
    return Objects.requireNonNullElse(text, "");
  }
}
