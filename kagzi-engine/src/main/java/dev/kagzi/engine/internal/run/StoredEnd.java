package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.internal.db.Session;
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
  public static final String SQL =
      """
      SELECT r.run_id, r.error, p.data, p.metadata
        FROM unnest(?::uuid[]) AS n (run_id)
        JOIN kagzi.workflow_runs r ON r.run_id = n.run_id
        LEFT JOIN kagzi.workflow_payloads p ON p.run_id = n.run_id AND p.kind = 'OUTPUT'
      """;

  public static Map<RunId, StoredEnd> read(Session tx, Collection<RunId> ids) throws SQLException {
    Map<RunId, StoredEnd> ends = new HashMap<>();
    tx.query(SQL)
        .bindUuids(ids, RunId::value)
        .list(
            row ->
                ends.put(
                    row.runId("run_id"),
                    new StoredEnd(
                        row.payloadOrNull("data", "metadata"), row.failureOrNull("error"))));
    return ends;
  }

  /** Whether the run has this output; null and an empty payload are equal. */
  public boolean hasOutput(@Nullable Payload other) {
    Payload own = output == null ? Payload.EMPTY : output;
    return own.equals(other == null ? Payload.EMPTY : other);
  }
}
