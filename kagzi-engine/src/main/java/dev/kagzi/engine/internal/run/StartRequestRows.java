package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.retry.RetryPolicyJson;
import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.IfExists;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The starts that applications request with {@code kagzi.start_workflow}. */
public final class StartRequestRows {
  public static final String LOCK_SQL =
      """
      SELECT s.run_id, octet_length(s.data) + coalesce(pg_column_size(s.metadata), 0)
               + coalesce(pg_column_size(s.headers), 0)
               + coalesce(pg_column_size(s.retry_policy), 0) AS bytes
        FROM kagzi.start_requests AS s
       WHERE s.refused_at IS NULL
         AND NOT EXISTS (SELECT 1 FROM kagzi.namespaces AS n
                          WHERE n.namespace = s.namespace AND NOT n.enabled)
       ORDER BY s.requested_at
       LIMIT ?
         FOR UPDATE OF s SKIP LOCKED
      """;

  public static final String READ_SQL =
      """
      SELECT run_id, namespace, external_id, task_queue, workflow_type, version, data, metadata,
             headers, retry_policy, execution_timeout_ms, deadline, step_timeout_ms,
             heartbeat_timeout_ms, on_failure_workflow, on_failure_task_queue, if_exists
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

  public static final String PURGE_SQL =
      """
      DELETE FROM kagzi.start_requests
       WHERE run_id = ANY (ARRAY (
               SELECT run_id FROM kagzi.start_requests
                WHERE refused_at < kagzi.clock() - ? * interval '1 millisecond'
                ORDER BY refused_at
                LIMIT ?))
      """;

  private StartRequestRows() {}

  /**
   * A row that this transaction has locked.
   *
   * @param request null if the row cannot be read as a start; then {@code unreadable} is set
   */
  public record Requested(
      RunId runId, @Nullable StartRequest request, @Nullable Refusal unreadable) {}

  /** The answer to a request that did not start its run. */
  public record Refused(RunId runId, String code, String message) {}

  private record Size(RunId runId, long bytes) {}

  /** No server accepts a request that is larger, so one is refused without being read. */
  static final long REQUEST_BYTES_MAX = 8 << 20;

  /**
   * Locks the oldest requests that no other transaction has locked, at most {@code max} of them,
   * and not many more than {@code bytesMax} bytes. Requests for a disabled namespace wait until it
   * is enabled.
   *
   * @param defaults for fields that a retry policy leaves out
   */
  public static List<Requested> lock(Session tx, int max, long bytesMax, RetryPolicy defaults)
      throws SQLException {
    List<Size> sizes =
        tx.query(LOCK_SQL)
            .bind(max)
            .list(row -> new Size(row.runId("run_id"), row.bigint("bytes")));
    if (sizes.isEmpty()) {
      return List.of();
    }
    List<RunId> runs = new ArrayList<>();
    List<Requested> requests = new ArrayList<>();
    long bytes = 0;
    for (Size each : sizes) {
      if (each.bytes > REQUEST_BYTES_MAX) {
        requests.add(new Requested(each.runId, null, tooLarge(each.bytes)));
      } else if (bytes < bytesMax) {
        runs.add(each.runId);
        bytes += each.bytes;
      }
    }
    if (!runs.isEmpty()) {
      requests.addAll(
          tx.query(READ_SQL)
              .bindUuids(runs, RunId::value)
              .bind(runs.size())
              .list(row -> read(row, defaults)));
    }
    return requests;
  }

  static Refusal tooLarge(long bytes) {
    return Refusal.invalid(
        "bytes of the request", String.valueOf(bytes), "at most " + REQUEST_BYTES_MAX);
  }

  private static Requested read(Row row, RetryPolicy defaults) throws SQLException {
    RunId runId = row.runId("run_id");
    try {
      return new Requested(runId, request(runId, row, defaults), null);
    } catch (Refusal refusal) {
      return new Requested(runId, null, refusal);
    } catch (RuntimeException e) {
      return new Requested(
          runId,
          null,
          Refusal.invalid("options", String.valueOf(e.getMessage()), "headers and a retry policy"));
    }
  }

  private static StartRequest request(RunId runId, Row row, RetryPolicy defaults)
      throws SQLException {
    Payload input =
        new Payload(
            Objects.requireNonNull(row.bytes("data"), "data"),
            Json.decode(row.textOrNull("metadata")));
    return new StartRequest(
        row.text("namespace"),
        row.text("external_id"),
        row.text("task_queue"),
        row.text("workflow_type"),
        row.text("version"),
        input,
        RetryPolicyJson.decode(row.textOrNull("retry_policy"), defaults),
        runId,
        new StartOptions(
            row.bigintOrNull("execution_timeout_ms"),
            row.timeOrNull("deadline"),
            row.bigintOrNull("step_timeout_ms"),
            row.bigintOrNull("heartbeat_timeout_ms"),
            row.text("on_failure_workflow"),
            row.text("on_failure_task_queue"),
            IfExists.valueOf(row.text("if_exists")),
            null,
            Json.decode(row.textOrNull("headers"))));
  }

  /** Deletes requests whose runs are started. */
  public static void delete(Session tx, List<RunId> started) throws SQLException {
    if (!started.isEmpty()) {
      tx.query(DELETE_SQL).bindUuids(started, RunId::value).update();
    }
  }

  /** Keeps requests that were refused, with the reason. */
  public static void refuse(Session tx, List<Refused> refused) throws SQLException {
    if (!refused.isEmpty()) {
      tx.query(REFUSE_SQL)
          .bindUuids(refused, each -> each.runId.value())
          .bindTexts(refused, Refused::code)
          .bindTexts(refused, Refused::message)
          .update();
    }
  }

  /** Deletes requests that were refused longer ago than this; returns how many. */
  public static int purge(Session tx, long ageMs, int max) throws SQLException {
    return tx.query(PURGE_SQL).bind(ageMs).bind(max).update();
  }
}
