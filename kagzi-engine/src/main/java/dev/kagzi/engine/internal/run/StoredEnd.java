package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.db.SqlErrors;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The stored result of a run: its output, or its last failure. A simple client's repeated report of
 * the end is accepted only if it contains the same result.
 *
 * @param output null for none
 * @param failure null if the run has not failed
 */
public record StoredEnd(@Nullable Payload output, @Nullable Failure failure) {
  /** The journal splits a batch whose repeated ends have larger results. */
  private static final long RESULTS_BYTES_MAX = 8L << 20;

  /** The results of the runs; none of them if their sum is too large. */
  public static final String SQL =
      """
      SELECT s.run_id, s.all_bytes,
             CASE WHEN r.read THEN s.error END AS error,
             CASE WHEN r.read THEN s.data END AS data,
             CASE WHEN r.read THEN s.metadata END AS metadata
        FROM (SELECT w.run_id, w.error, p.data, p.metadata,
                     sum(coalesce(octet_length(w.error::text), 0)
                         + coalesce(octet_length(p.data), 0)
                         + coalesce(octet_length(p.metadata::text), 0)) OVER () AS all_bytes
                FROM unnest(?::uuid[]) AS n (run_id)
                JOIN kagzi.workflow_runs w ON w.run_id = n.run_id
                LEFT JOIN kagzi.workflow_payloads p
                  ON p.run_id = n.run_id AND p.kind = 'OUTPUT') AS s
       CROSS JOIN LATERAL (SELECT s.all_bytes <= ?::bigint AS read) AS r
      """;

  /**
   * Reads the results of these runs.
   *
   * @throws SQLException with {@link SqlErrors#LIMIT_EXCEEDED} if the results of several runs are
   *     too large for one transaction
   */
  public static Map<RunId, StoredEnd> read(Session tx, Collection<RunId> ids) throws SQLException {
    Map<RunId, StoredEnd> ends = new HashMap<>();
    long bytesMax = ids.size() == 1 ? Long.MAX_VALUE : RESULTS_BYTES_MAX;
    tx.query(SQL)
        .bindUuids(ids, RunId::value)
        .bind(bytesMax)
        .list(
            row -> {
              checkResults(row.bigint("all_bytes"), bytesMax);
              return ends.put(
                  row.runId("run_id"),
                  new StoredEnd(row.payloadOrNull("data", "metadata"), row.failureOrNull("error")));
            });
    return ends;
  }

  private static void checkResults(long bytes, long bytesMax) throws SQLException {
    if (bytes > bytesMax) {
      throw new SQLException(
          "results of ended runs: %d bytes (expected: at most %d in one transaction)"
              .formatted(bytes, bytesMax),
          SqlErrors.LIMIT_EXCEEDED);
    }
  }

  /** Whether the run has this output; null and an empty payload are equal. */
  public boolean hasOutput(@Nullable Payload other) {
    Payload own = output == null ? Payload.EMPTY : output;
    return own.equals(other == null ? Payload.EMPTY : other);
  }
}
