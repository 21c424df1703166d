package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.internal.db.Query;
import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.run.SignalRequest;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The signals that applications request with {@code kagzi.signal_workflow}. */
public final class SignalRequestRows extends RequestRows<Long, SignalRequestRows.RequestedSignal> {
  public static final String NAMESPACES_SQL =
      """
      WITH RECURSIVE names (namespace) AS (
        SELECT min(r.namespace) FROM kagzi.signal_requests AS r
         WHERE r.refused_at IS NULL AND r.namespace >= ?
         UNION ALL
        SELECT (SELECT min(r.namespace) FROM kagzi.signal_requests AS r
                 WHERE r.refused_at IS NULL AND r.namespace > n.namespace)
          FROM names AS n
         WHERE n.namespace IS NOT NULL)
      SELECT n.namespace FROM names AS n
       WHERE n.namespace IS NOT NULL
       LIMIT ?
      """;

  // Reads the first open request of each run. It stays in the table until the transaction that
  // executes it commits, so the requests of a run are executed in order, by whichever server. The
  // recursion jumps from run to run in the index, however many requests each run has.
  public static final String FIRST_SQL =
      """
      WITH RECURSIVE first (run_id, request_no, place) AS (
        (SELECT r.run_id, r.request_no, 1
           FROM kagzi.signal_requests AS r
          WHERE r.namespace = ? AND r.refused_at IS NULL AND r.run_id >= ?
          ORDER BY r.run_id, r.request_no
          LIMIT 1)
         UNION ALL
        SELECT n.run_id, n.request_no, f.place + 1
          FROM first AS f
         CROSS JOIN LATERAL (
                SELECT r.run_id, r.request_no
                  FROM kagzi.signal_requests AS r
                 WHERE r.namespace = ? AND r.refused_at IS NULL AND r.run_id > f.run_id
                 ORDER BY r.run_id, r.request_no
                 LIMIT 1) AS n
         WHERE f.place < ?)
      SELECT run_id, request_no FROM first ORDER BY place
      """;

  // A signal waits for the start of its run if both were requested. Requests that another server
  // has locked are skipped. "#> '{}'" returns the document uncompressed, so that pg_column_size
  // returns its real size.
  public static final String LOCK_SQL =
      """
      SELECT r.request_no, r.run_id,
             octet_length(r.data)::bigint + octet_length(r.name) + octet_length(r.signal_id)
               + coalesce(pg_column_size(r.metadata #> '{}'), 0) AS bytes
        FROM kagzi.signal_requests AS r
       WHERE r.request_no = ANY (?::bigint[]) AND r.refused_at IS NULL
         AND coalesce(r.retry_at, r.requested_at) <= kagzi.clock()
         AND NOT EXISTS (SELECT 1 FROM kagzi.start_requests AS s
                          WHERE s.run_id = r.run_id AND s.refused_at IS NULL)
       ORDER BY r.run_id
       LIMIT ?
         FOR UPDATE OF r SKIP LOCKED
      """;

  public static final String READ_SQL =
      """
      SELECT r.request_no, r.run_id, r.namespace, r.name, r.signal_id, r.data, r.metadata,
             r.attempts, s.refusal_code || ': ' || s.refusal AS start_refusal
        FROM kagzi.signal_requests AS r
        LEFT JOIN kagzi.start_requests AS s ON s.run_id = r.run_id AND s.refused_at IS NOT NULL
       WHERE r.request_no = ANY (?::bigint[])
       ORDER BY r.request_no
       LIMIT ?
      """;

  public static final String DELETE_SQL =
      "DELETE FROM kagzi.signal_requests WHERE request_no = ANY (?::bigint[])";

  public static final String REFUSE_SQL =
      """
      UPDATE kagzi.signal_requests AS s
         SET refused_at = t.now, refusal_code = n.code, refusal = n.message
        FROM unnest(?::bigint[], ?::text[], ?::text[]) AS n (request_no, code, message)
       CROSS JOIN (SELECT kagzi.clock() AS now) AS t
       WHERE s.request_no = n.request_no
      """;

  public static final String POSTPONE_SQL =
      """
      UPDATE kagzi.signal_requests AS s
         SET attempts = s.attempts + 1, refusal_code = n.code, refusal = n.message,
             retry_at = t.now + least(?::bigint, ?::bigint * power(2, least(s.attempts, 20)))
                                * interval '1 millisecond'
        FROM unnest(?::bigint[], ?::text[], ?::text[]) AS n (request_no, code, message)
       CROSS JOIN (SELECT kagzi.clock() AS now) AS t
       WHERE s.request_no = n.request_no
      """;

  public static final String PURGE_SQL =
      """
      DELETE FROM kagzi.signal_requests
       WHERE request_no = ANY (ARRAY (
               SELECT request_no FROM kagzi.signal_requests
                WHERE refused_at < kagzi.clock() - ? * interval '1 millisecond'
                ORDER BY refused_at
                LIMIT ?))
      """;

  private static final RunId LOWEST = new RunId(new UUID(0, 0));

  /**
   * A signal and its run.
   *
   * @param startRefusal why the requested start of the run was refused; null if it was not
   */
  public record RequestedSignal(
      String namespace, RunId runId, SignalRequest signal, @Nullable String startRefusal) {}

  private record First(RunId runId, long no) {}

  public SignalRequestRows() {
    super(
        new Statements(NAMESPACES_SQL, READ_SQL, DELETE_SQL, REFUSE_SQL, POSTPONE_SQL, PURGE_SQL));
  }

  /**
   * Locks one request of each run. Runs take turns between batches, because a run with many
   * requests stays in the table.
   */
  @Override
  protected Locked<Long> lockIn(Session tx, String namespace, @Nullable RunId from, int max)
      throws SQLException {
    List<First> first = first(tx, namespace, from, max);
    if (from != null && first.size() < max) {
      Set<First> all = new LinkedHashSet<>(first);
      all.addAll(first(tx, namespace, null, max - first.size()));
      first = List.copyOf(all);
    }
    RunId next = first.size() < max ? null : first.getLast().runId;
    return new Locked<>(namespace, lock(tx, first, max), next);
  }

  /** Locks the rows that may be sent now, and returns them in the given order. */
  private static List<Size<Long>> lock(Session tx, List<First> first, int max) throws SQLException {
    Map<Long, Size<Long>> locked = new HashMap<>();
    tx.query(LOCK_SQL)
        .bindLongs(first, First::no)
        .bind(max)
        .list(
            row ->
                locked.put(
                    row.bigint("request_no"),
                    new Size<>(
                        row.bigint("request_no"), row.runId("run_id"), row.bigint("bytes"))));
    return first.stream().map(each -> locked.get(each.no)).filter(Objects::nonNull).toList();
  }

  private static List<First> first(Session tx, String namespace, @Nullable RunId from, int max)
      throws SQLException {
    return tx.query(FIRST_SQL)
        .bind(namespace)
        .bind((from == null ? LOWEST : from).value())
        .bind(namespace)
        .bind(max)
        .list(row -> new First(row.runId("run_id"), row.bigint("request_no")));
  }

  @Override
  protected Query bindKeys(Query query, List<Long> keys) throws SQLException {
    return query.bindLongs(keys, no -> no);
  }

  @Override
  protected Long key(Row row) throws SQLException {
    return row.bigint("request_no");
  }

  @Override
  protected RequestedSignal request(Row row) throws SQLException {
    String signalId = row.text("signal_id");
    Payload payload =
        new Payload(
            Objects.requireNonNull(row.bytes("data"), "data"),
            Json.decodeTexts("payload_metadata", row.textOrNull("metadata")));
    SignalRequest signal =
        new SignalRequest(
            row.text("name"),
            payload,
            signalId.isEmpty() ? "request-" + row.bigint("request_no") : signalId);
    return new RequestedSignal(
        row.text("namespace"), row.runId("run_id"), signal, row.textOrNull("start_refusal"));
  }
}
