package dev.kagzi.engine.internal.published;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The statements about published values. The caller has locked their runs, unless a method says
 * otherwise.
 */
public final class PublishedRows {
  // A LATERAL: while no run has published anything, the planner would otherwise choose a scan of
  // the whole table and cache that plan.
  /** What a decision about new values of these runs needs; not the values themselves. */
  public static final String READ_SQL =
      """
      SELECT n.run_id, p.name, p.scope, p.run_attempt, p.sequence, p.version, p.has_value, p.bytes
        FROM unnest(?::uuid[]) AS n (run_id)
       CROSS JOIN LATERAL (
             SELECT v.name, v.scope, v.run_attempt, v.sequence, v.version,
                    v.data IS NOT NULL AS has_value, coalesce(octet_length(v.data), 0) AS bytes
               FROM kagzi.published_values v
              WHERE v.run_id = n.run_id
             OFFSET 0) AS p
      """;

  public static final String WRITE_SQL =
      """
      INSERT INTO kagzi.published_values (run_id, name, scope, run_attempt, sequence, version, data,
                                          metadata, published_at)
      SELECT n.run_id, n.name, n.scope, n.run_attempt, n.sequence, n.version, n.data,
             n.metadata::jsonb, t.now
        FROM unnest(?::uuid[], ?::text[], ?::text[], ?::int[], ?::bigint[], ?::bigint[], ?::bytea[],
                    ?::text[])
               AS n (run_id, name, scope, run_attempt, sequence, version, data, metadata)
       CROSS JOIN (SELECT kagzi.clock() AS now) AS t
          ON CONFLICT (run_id, name, scope) DO UPDATE
             SET run_attempt = excluded.run_attempt, sequence = excluded.sequence,
                 version = excluded.version, data = excluded.data, metadata = excluded.metadata,
                 published_at = excluded.published_at
      """;

  static final String DELETE_SQL =
      "DELETE FROM kagzi.published_values WHERE run_id = ANY (?::uuid[])";

  /** Like the weight of signals: one for each row, and one for each TOAST row of its value. */
  static final String STORED_ROWS_SQL =
      """
      SELECT n.run_id,
             (SELECT coalesce(sum(1 + pg_column_size(coalesce(v.data, '')) / 2000), 0)::int
                FROM kagzi.published_values v
               WHERE v.run_id = n.run_id) AS weight
        FROM unnest(?::uuid[]) AS n (run_id)
      """;

  private PublishedRows() {}

  static List<PublishedRow> read(Session tx, Collection<RunId> runs) throws SQLException {
    return tx.query(READ_SQL)
        .bindUuids(runs, RunId::value)
        .list(
            row ->
                new PublishedRow(
                    row.runId("run_id"),
                    row.text("name"),
                    row.text("scope"),
                    row.integer("run_attempt"),
                    row.bigint("sequence"),
                    row.bigint("version"),
                    row.bool("has_value"),
                    row.integer("bytes"),
                    null));
  }

  static void write(Session tx, Collection<PublishedRow> rows) throws SQLException {
    tx.query(WRITE_SQL)
        .bindUuids(rows, row -> row.runId().value())
        .bindTexts(rows, PublishedRow::name)
        .bindTexts(rows, PublishedRow::scope)
        .bindInts(rows, PublishedRow::runAttempt)
        .bindLongs(rows, PublishedRow::sequence)
        .bindLongs(rows, PublishedRow::version)
        .bindBytes(rows, PublishedRows::data)
        .bindTexts(rows, PublishedRows::metadata)
        .update();
  }

  private static byte @Nullable [] data(PublishedRow row) {
    Payload payload = row.payload();
    return payload == null ? null : payload.data();
  }

  private static @Nullable String metadata(PublishedRow row) {
    Payload payload = row.payload();
    return payload == null ? null : Json.encode(payload.metadata());
  }

  /** Deletes the values of deleted runs; a run has few enough for one statement. */
  public static void delete(Session tx, Collection<RunId> runs) throws SQLException {
    tx.query(DELETE_SQL).bindUuids(runs, RunId::value).update();
  }

  /** Returns the weight of each run's values. The runs need not be locked. */
  public static Map<RunId, Integer> storedRows(Session session, Collection<RunId> runs)
      throws SQLException {
    Map<RunId, Integer> weights = new HashMap<>();
    session
        .query(STORED_ROWS_SQL)
        .bindUuids(runs, RunId::value)
        .list(row -> weights.put(row.runId("run_id"), row.integer("weight")));
    return weights;
  }
}
