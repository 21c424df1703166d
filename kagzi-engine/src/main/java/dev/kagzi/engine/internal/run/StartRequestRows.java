package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.internal.db.Query;
import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.retry.RetryPolicyJson;
import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.IfExists;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The starts that applications request with {@code kagzi.start_workflow}. */
public final class StartRequestRows extends RequestRows<RunId, StartRequest> {
  // Jumps from namespace to namespace in the index, however many requests each has. Requests for a
  // disabled namespace wait until it is enabled.
  public static final String NAMESPACES_SQL =
      """
      WITH RECURSIVE names (namespace) AS (
        SELECT min(s.namespace) FROM kagzi.start_requests AS s
         WHERE s.refused_at IS NULL AND s.namespace >= ?
         UNION ALL
        SELECT (SELECT min(s.namespace) FROM kagzi.start_requests AS s
                 WHERE s.refused_at IS NULL AND s.namespace > n.namespace)
          FROM names AS n
         WHERE n.namespace IS NOT NULL)
      SELECT n.namespace FROM names AS n
       WHERE n.namespace IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM kagzi.namespaces AS d
                          WHERE d.namespace = n.namespace AND NOT d.enabled)
       LIMIT ?
      """;

  // "#> '{}'" returns the document uncompressed, so that pg_column_size returns its real size.
  public static final String LOCK_SQL =
      """
      SELECT s.run_id,
             octet_length(s.data)::bigint + octet_length(s.external_id) + octet_length(s.task_queue)
               + octet_length(s.workflow_type) + octet_length(s.version)
               + octet_length(s.on_failure_workflow) + octet_length(s.on_failure_task_queue)
               + coalesce(pg_column_size(s.metadata #> '{}'), 0)
               + coalesce(pg_column_size(s.headers #> '{}'), 0)
               + coalesce(pg_column_size(s.retry_policy #> '{}'), 0) AS bytes
        FROM kagzi.start_requests AS s
       WHERE s.namespace = ? AND s.refused_at IS NULL
         AND coalesce(s.retry_at, s.requested_at) <= kagzi.clock()
       ORDER BY coalesce(s.retry_at, s.requested_at)
       LIMIT ?
         FOR UPDATE OF s SKIP LOCKED
      """;

  public static final String READ_SQL =
      """
      SELECT run_id, namespace, external_id, task_queue, workflow_type, version, data, metadata,
             headers, retry_policy, execution_timeout_ms, deadline, step_timeout_ms,
             heartbeat_timeout_ms, on_failure_workflow, on_failure_task_queue, if_exists, attempts
        FROM kagzi.start_requests
       WHERE run_id = ANY (?::uuid[])
       ORDER BY requested_at
       LIMIT ?
      """;

  public static final String DELETE_SQL =
      "DELETE FROM kagzi.start_requests WHERE run_id = ANY (?::uuid[])";

  public static final String REFUSE_SQL =
      """
      UPDATE kagzi.start_requests AS s
         SET refused_at = t.now, refusal_code = n.code, refusal = n.message
        FROM unnest(?::uuid[], ?::text[], ?::text[]) AS n (run_id, code, message)
       CROSS JOIN (SELECT kagzi.clock() AS now) AS t
       WHERE s.run_id = n.run_id
      """;

  public static final String POSTPONE_SQL =
      """
      UPDATE kagzi.start_requests AS s
         SET attempts = s.attempts + 1, refusal_code = n.code, refusal = n.message,
             retry_at = t.now + least(?::bigint, ?::bigint * power(2, least(s.attempts, 20)))
                                * interval '1 millisecond'
        FROM unnest(?::uuid[], ?::text[], ?::text[]) AS n (run_id, code, message)
       CROSS JOIN (SELECT kagzi.clock() AS now) AS t
       WHERE s.run_id = n.run_id
      """;

  public static final String PURGE_SQL =
      """
      DELETE FROM kagzi.start_requests
       WHERE run_id = ANY (ARRAY (
               SELECT run_id FROM kagzi.start_requests
                WHERE refused_at < kagzi.clock() - ? * interval '1 millisecond'
                ORDER BY refused_at
                LIMIT ?))
      """;

  private final RetryPolicy defaults;

  /**
   * @param defaults for fields that a retry policy leaves out
   */
  public StartRequestRows(RetryPolicy defaults) {
    super(
        new Statements(NAMESPACES_SQL, READ_SQL, DELETE_SQL, REFUSE_SQL, POSTPONE_SQL, PURGE_SQL));
    this.defaults = defaults;
  }

  /**
   * Locks the oldest due requests. {@code from} is not needed, because an executed start leaves the
   * table.
   */
  @Override
  protected Locked<RunId> lockIn(Session tx, String namespace, @Nullable RunId from, int max)
      throws SQLException {
    List<Size<RunId>> sizes =
        tx.query(LOCK_SQL)
            .bind(namespace)
            .bind(max)
            .list(
                row -> {
                  RunId run = row.runId("run_id");
                  return new Size<>(run, run, row.bigint("bytes"));
                });
    return new Locked<>(namespace, sizes, null);
  }

  @Override
  protected Query bindKeys(Query query, List<RunId> keys) throws SQLException {
    return query.bindUuids(keys, RunId::value);
  }

  @Override
  protected RunId key(Row row) throws SQLException {
    return row.runId("run_id");
  }

  @Override
  protected StartRequest request(Row row) throws SQLException {
    Payload input =
        new Payload(
            Objects.requireNonNull(row.bytes("data"), "data"),
            Json.decodeTexts("input_metadata", row.textOrNull("metadata")));
    String policy = row.textOrNull("retry_policy");
    if (policy != null) {
      policy = Json.checkObject("retry_policy", policy);
    }
    return new StartRequest(
        row.text("namespace"),
        row.text("external_id"),
        row.text("task_queue"),
        row.text("workflow_type"),
        row.text("version"),
        input,
        RetryPolicyJson.decode(policy, defaults),
        row.runId("run_id"),
        new StartOptions(
            row.bigintOrNull("execution_timeout_ms"),
            row.timeOrNull("deadline"),
            row.bigintOrNull("step_timeout_ms"),
            row.bigintOrNull("heartbeat_timeout_ms"),
            row.text("on_failure_workflow"),
            row.text("on_failure_task_queue"),
            IfExists.valueOf(row.text("if_exists")),
            null,
            Json.decodeTexts("headers", row.textOrNull("headers"))));
  }
}
