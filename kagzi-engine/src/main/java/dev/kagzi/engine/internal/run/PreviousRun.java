package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.retry.RetryPolicyJson;
import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.run.IfExists;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The start request of an existing run, for a retry as a new run. */
public record PreviousRun(
    RunStatus status,
    @Nullable RunId failedRun,
    @Nullable RunId continuedTo,
    @Nullable RunId lastOfChain,
    StartRequest request) {
  // "namespace || ''" keeps the planner from the namespace index, so that it uses the primary key.
  static final String SQL =
      """
      SELECT r.namespace, r.external_id, r.task_queue, r.workflow_type, r.version, r.retry_policy,
             r.status, r.execution_timeout_ms, r.continued_to,
             (SELECT l.run_id FROM kagzi.workflow_runs l
               WHERE r.continued_to IS NOT NULL AND l.continued_to IS NULL
                 AND l.first_run_id = coalesce(r.first_run_id, r.run_id)
               LIMIT 1) AS last_run_id,
             kagzi.clock() + coalesce(r.chain_deadline_after_ms, r.deadline_after_ms)
               * interval '1 millisecond' AS deadline,
             r.step_timeout_ms, r.heartbeat_timeout_ms,
             r.on_failure_workflow, r.on_failure_task_queue, r.failed_run_id, r.headers, p.data,
             p.metadata
        FROM kagzi.workflow_runs r
        LEFT JOIN kagzi.workflow_payloads p ON p.run_id = r.run_id AND p.kind = 'INPUT'
       WHERE r.run_id = ? AND r.namespace || '' = ? AND r.cron_expr IS NULL
      """;

  public static Optional<PreviousRun> find(
      Session session, String namespace, RunId run, RunId newId) throws SQLException {
    return session
        .query(SQL)
        .bind(run.value())
        .bind(namespace)
        .first(
            row ->
                new PreviousRun(
                    RunStatus.valueOf(row.text("status")),
                    row.runIdOrNull("failed_run_id"),
                    row.runIdOrNull("continued_to"),
                    row.runIdOrNull("last_run_id"),
                    request(row, newId)));
  }

  private static StartRequest request(Row row, RunId newId) throws SQLException {
    Payload input = row.payloadOrNull("data", "metadata");
    return new StartRequest(
        row.text("namespace"),
        row.textOrEmpty("external_id"),
        row.text("task_queue"),
        row.text("workflow_type"),
        row.text("version"),
        input == null ? Payload.EMPTY : input,
        RetryPolicyJson.decode(row.textOrNull("retry_policy")),
        newId,
        new StartOptions(
            row.bigintOrNull("execution_timeout_ms"),
            row.timeOrNull("deadline"),
            row.bigintOrNull("step_timeout_ms"),
            row.bigintOrNull("heartbeat_timeout_ms"),
            row.textOrEmpty("on_failure_workflow"),
            row.textOrEmpty("on_failure_task_queue"),
            IfExists.USE_EXISTING,
            null,
            Json.decodeUncached(row.textOrNull("headers"))));
  }
}
