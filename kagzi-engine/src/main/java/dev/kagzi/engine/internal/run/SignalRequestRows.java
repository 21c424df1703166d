package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.run.SignalRequest;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The signals that applications request with {@code kagzi.signal_workflow}. */
public final class SignalRequestRows {
  // The first open request of each run: it exists until its delete commits, so whichever server
  // sends it, the next one of the run follows it. A signal waits for the start of its run if both
  // were requested. Requests that another server has locked are skipped.
  public static final String LOCK_SQL =
      """
      SELECT r.request_no, r.run_id,
             octet_length(r.data) + coalesce(pg_column_size(r.metadata), 0) AS bytes
        FROM kagzi.signal_requests AS r
       WHERE r.refused_at IS NULL
         AND NOT EXISTS (SELECT 1 FROM kagzi.signal_requests AS e
                          WHERE e.run_id = r.run_id AND e.request_no < r.request_no
                            AND e.refused_at IS NULL)
         AND NOT EXISTS (SELECT 1 FROM kagzi.start_requests AS s
                          WHERE s.run_id = r.run_id AND s.refused_at IS NULL)
       ORDER BY r.request_no
       LIMIT ?
         FOR UPDATE OF r SKIP LOCKED
      """;

  public static final String READ_SQL =
      """
      SELECT request_no, run_id, namespace, name, signal_id, data, metadata
        FROM kagzi.signal_requests
       WHERE request_no = ANY (?::bigint[])
       ORDER BY request_no
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

  public static final String PURGE_SQL =
      """
      DELETE FROM kagzi.signal_requests
       WHERE request_no = ANY (ARRAY (
               SELECT request_no FROM kagzi.signal_requests
                WHERE refused_at < kagzi.clock() - ? * interval '1 millisecond'
                ORDER BY refused_at
                LIMIT ?))
      """;

  private SignalRequestRows() {}

  /**
   * A row that this transaction has locked.
   *
   * @param signal null if the row is too large to be read; then {@code tooLarge} is set
   */
  public record Requested(
      long no,
      String namespace,
      RunId runId,
      @Nullable SignalRequest signal,
      @Nullable Refusal tooLarge) {}

  /** The answer to a request whose signal was not stored. */
  public record Refused(long no, String code, String message) {}

  private record Size(long no, RunId runId, long bytes) {}

  /**
   * Locks the oldest requests that no other transaction has locked and that may be sent, at most
   * one of each run, {@code max} of them, and not many more than {@code bytesMax} bytes.
   */
  public static List<Requested> lock(Session tx, int max, long bytesMax) throws SQLException {
    List<Size> sizes =
        tx.query(LOCK_SQL)
            .bind(max)
            .list(
                row ->
                    new Size(row.bigint("request_no"), row.runId("run_id"), row.bigint("bytes")));
    if (sizes.isEmpty()) {
      return List.of();
    }
    List<Long> numbers = new ArrayList<>();
    List<Requested> requests = new ArrayList<>();
    long bytes = 0;
    for (Size each : sizes) {
      if (each.bytes > StartRequestRows.REQUEST_BYTES_MAX) {
        Refusal tooLarge = StartRequestRows.tooLarge(each.bytes);
        requests.add(new Requested(each.no, "", each.runId, null, tooLarge));
      } else if (bytes < bytesMax) {
        numbers.add(each.no);
        bytes += each.bytes;
      }
    }
    if (!numbers.isEmpty()) {
      requests.addAll(
          tx.query(READ_SQL)
              .bindLongs(numbers, no -> no)
              .bind(numbers.size())
              .list(SignalRequestRows::read));
    }
    return requests;
  }

  private static Requested read(Row row) throws SQLException {
    long no = row.bigint("request_no");
    return new Requested(no, row.text("namespace"), row.runId("run_id"), signal(no, row), null);
  }

  private static SignalRequest signal(long no, Row row) throws SQLException {
    String signalId = row.text("signal_id");
    Payload payload =
        new Payload(
            Objects.requireNonNull(row.bytes("data"), "data"),
            Json.decode(row.textOrNull("metadata")));
    return new SignalRequest(
        row.text("name"), payload, signalId.isEmpty() ? "request-" + no : signalId);
  }

  /** Deletes requests whose signals are stored. */
  public static void delete(Session tx, List<Long> sent) throws SQLException {
    if (!sent.isEmpty()) {
      tx.query(DELETE_SQL).bindLongs(sent, no -> no).update();
    }
  }

  /** Keeps requests that were refused, with the reason. */
  public static void refuse(Session tx, List<Refused> refused) throws SQLException {
    if (!refused.isEmpty()) {
      tx.query(REFUSE_SQL)
          .bindLongs(refused, Refused::no)
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
