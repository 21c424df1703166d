package dev.kagzi.engine.internal.signal;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.db.SqlErrors;
import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.WorkerId;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The statements about signals. The caller has locked their runs, unless a method says otherwise.
 */
public final class SignalRows {
  /** The journal splits a batch that reads more content of signals. */
  private static final long READ_BYTES_MAX = 8L << 20;

  // Each lookup is a LATERAL with its own limit or aggregate. While no run has signals, the planner
  // would otherwise choose a scan of the whole table and cache that plan.

  /**
   * For each run: its last signal number, the number and size of its buffered signals, and whether
   * a simple client holds it.
   */
  public static final String STATE_SQL =
      """
      SELECT n.run_id, l.last_no, b.signals, b.bytes, w.simple
        FROM unnest(?::uuid[], ?::uuid[]) AS n (run_id, worker_id)
       CROSS JOIN LATERAL (
             SELECT coalesce((SELECT s.signal_no
                                FROM kagzi.run_signals s
                               WHERE s.run_id = n.run_id
                               ORDER BY s.signal_no DESC
                               LIMIT 1), 0) AS last_no) AS l
       CROSS JOIN LATERAL (
             SELECT count(*) AS signals, coalesce(sum(octet_length(s.data)), 0)::bigint AS bytes
               FROM kagzi.run_signals s
              WHERE s.run_id = n.run_id AND s.step_id IS NULL AND s.answer IS NULL) AS b
        LEFT JOIN kagzi.workers w ON w.worker_id = n.worker_id
      """;

  /**
   * Finds which of the sent signals are already stored. A signal counts as stored if any run of the
   * chain has it. An answer of a callback counts as stored only if the run itself has it.
   */
  public static final String KNOWN_SQL =
      """
      SELECT n.run_id, n.signal_id, k.name, k.answer
        FROM unnest(?::uuid[], ?::uuid[], ?::text[]) AS n (run_id, chain_id, signal_id)
       CROSS JOIN LATERAL (
             SELECT s.name, s.answer
               FROM kagzi.run_signals s
              WHERE s.run_id = n.run_id AND s.signal_id = n.signal_id
             UNION ALL
             SELECT f.name, f.answer
               FROM kagzi.run_signals f
              WHERE f.run_id = n.chain_id AND f.signal_id = n.signal_id AND f.answer IS NULL
             UNION ALL
             SELECT c.name, c.answer
               FROM kagzi.run_signals c
              WHERE c.chain_id = n.chain_id AND c.signal_id = n.signal_id AND c.answer IS NULL
              LIMIT 1) AS k
      """;

  private static final String COLUMNS =
      "s.run_id, s.signal_no, s.signal_id, s.name, s.namespace, s.external_id, s.chain_id,";

  /**
   * The oldest buffered signals of each run and name; without contents if all of them together are
   * too large.
   */
  public static final String OLDEST_SQL =
      "SELECT "
          + COLUMNS
          + """
             s.metadata, s.all_bytes, NULL::text AS step_id,
             CASE WHEN s.all_bytes <= ?::bigint THEN s.data END AS data
        FROM (SELECT o.*, coalesce(sum(octet_length(o.data)) OVER (), 0)::bigint AS all_bytes
                FROM unnest(?::uuid[], ?::text[], ?::int[]) AS n (run_id, name, signals_max)
               CROSS JOIN LATERAL (
                     SELECT *
                       FROM kagzi.run_signals x
                      WHERE x.run_id = n.run_id AND x.name = n.name AND x.step_id IS NULL
                      ORDER BY x.signal_no
                      LIMIT n.signals_max) AS o) AS s
      """;

  // "signal_no > 0" makes the planner use the primary key, which is smaller than the index of
  // signal ids.
  /** The oldest signals of a name that steps of a scope have received, with the steps' outputs. */
  public static final String RECEIVED_SQL =
      "SELECT "
          + COLUMNS
          + """
             s.step_id, s.output_metadata AS metadata, s.all_bytes,
             CASE WHEN s.all_bytes <= ?::bigint THEN s.output END AS data
        FROM (SELECT x.run_id, x.signal_no, x.signal_id, x.name, x.namespace, x.external_id,
                     x.chain_id, x.step_id, t.output, t.output_metadata,
                     coalesce(sum(octet_length(t.output)) OVER (), 0)::bigint AS all_bytes
                FROM unnest(?::uuid[], ?::text[], ?::text[], ?::int[])
                       AS n (run_id, scope, name, signals_max)
               CROSS JOIN LATERAL (
                     SELECT *
                       FROM kagzi.run_signals g
                      WHERE g.run_id = n.run_id AND g.signal_no > 0
                        AND g.name = n.name AND starts_with(g.step_id, n.scope)
                      ORDER BY g.signal_no
                      LIMIT n.signals_max) AS x
               CROSS JOIN LATERAL (
                     SELECT r.output, r.output_metadata
                       FROM kagzi.step_runs r
                      WHERE r.run_id = x.run_id AND r.step_id = x.step_id
                      ORDER BY r.attempt DESC
                      LIMIT 1) AS t) AS s
      """;

  // OFFSET 0 makes the planner find the signals first, and then update each by its key.
  /** Buffers all signals that steps of these scopes have received, with the steps' outputs. */
  public static final String GIVE_BACK_SQL =
      """
      UPDATE kagzi.run_signals s
         SET step_id = NULL, received_at = NULL, data = b.output, metadata = b.output_metadata
        FROM (SELECT x.run_id, x.signal_no, t.output, t.output_metadata
                FROM unnest(?::uuid[], ?::text[]) AS n (run_id, scope)
               CROSS JOIN LATERAL (
                     SELECT g.run_id, g.signal_no, g.step_id
                       FROM kagzi.run_signals g
                      WHERE g.run_id = n.run_id AND g.signal_no > 0
                        AND starts_with(g.step_id, n.scope)
                     OFFSET 0) AS x
               CROSS JOIN LATERAL (
                     SELECT r.output, r.output_metadata
                       FROM kagzi.step_runs r
                      WHERE r.run_id = x.run_id AND r.step_id = x.step_id
                      ORDER BY r.attempt DESC
                      LIMIT 1) AS t
              OFFSET 0) AS b
       WHERE s.run_id = b.run_id AND s.signal_no = b.signal_no
      """;

  public static final String INSERT_SQL =
      """
      INSERT INTO kagzi.run_signals (run_id, signal_no, signal_id, name, data, metadata, step_id,
                                     namespace, external_id, answer, chain_id, sent_at, received_at)
      SELECT n.run_id, n.signal_no, n.signal_id, n.name, n.data, n.metadata::jsonb, n.step_id,
             n.namespace, n.external_id, n.answer, n.chain_id, t.now,
             CASE WHEN n.step_id IS NOT NULL THEN t.now END
        FROM unnest(?::uuid[], ?::int[], ?::text[], ?::text[], ?::bytea[], ?::text[], ?::text[],
                    ?::text[], ?::text[], ?::text[], ?::uuid[])
               AS n (run_id, signal_no, signal_id, name, data, metadata, step_id, namespace,
                     external_id, answer, chain_id)
       CROSS JOIN (SELECT kagzi.clock() AS now) AS t
      """;

  /** Sets the step that has received a signal. The content moves to the step. */
  public static final String UPDATE_SQL =
      """
      UPDATE kagzi.run_signals s
         SET step_id = n.step_id, received_at = t.now, data = NULL, metadata = NULL
        FROM unnest(?::uuid[], ?::int[], ?::text[]) AS n (run_id, signal_no, step_id),
             (SELECT kagzi.clock() AS now) AS t
       WHERE s.run_id = n.run_id AND s.signal_no = n.signal_no
      """;

  /**
   * The run that has accepted the signal of a {@code SignalOrStartWorkflow} call, even if that run
   * has ended.
   */
  public static final String ACCEPTED_SQL =
      """
      SELECT n.run_id AS wanted, n.signal_id, k.run_id, k.name, r.workflow_type
        FROM unnest(?::uuid[], ?::text[], ?::text[], ?::text[])
               AS n (run_id, namespace, external_id, signal_id)
       CROSS JOIN LATERAL (
             SELECT s.run_id, s.name
               FROM kagzi.run_signals s
              WHERE s.namespace = n.namespace AND s.external_id = n.external_id
                AND s.signal_id = n.signal_id
              LIMIT 1) AS k
        JOIN kagzi.workflow_runs r ON r.run_id = k.run_id
      """;

  static final String DELETE_SQL = "DELETE FROM kagzi.run_signals WHERE run_id = ANY (?::uuid[])";

  static final String DELETE_SOME_SQL =
      """
      DELETE FROM kagzi.run_signals d
       USING (SELECT s.run_id, s.signal_no
                FROM kagzi.run_signals s WHERE s.run_id = ? LIMIT ?) AS x
       WHERE d.run_id = x.run_id AND d.signal_no = x.signal_no
      """;

  /** Like the weight of steps: one for each row, and one for each TOAST row of its content. */
  static final String STORED_ROWS_SQL =
      """
      SELECT n.run_id,
             (SELECT coalesce(sum(1 + pg_column_size(coalesce(x.data, '')) / 2000), 0)::int
                FROM (SELECT s.data FROM kagzi.run_signals s
                       WHERE s.run_id = n.run_id LIMIT ?) AS x) AS weight
        FROM unnest(?::uuid[]) AS n (run_id)
      """;

  private SignalRows() {}

  /**
   * The signals of a run before this transaction.
   *
   * @param isSimple true if a simple client holds the run
   */
  public record State(int lastNumber, int buffered, long bufferedBytes, boolean isSimple) {
    public static final State NONE = new State(0, 0, 0, false);
  }

  /** {@code holders} has the runs, each with the worker that holds it. */
  public static Map<RunId, State> states(Session tx, Map<RunId, @Nullable WorkerId> holders)
      throws SQLException {
    List<Map.Entry<RunId, @Nullable WorkerId>> runs = List.copyOf(holders.entrySet());
    Map<RunId, State> found = new HashMap<>();
    tx.query(STATE_SQL)
        .bindUuids(runs, run -> run.getKey().value())
        .bindUuids(runs, run -> run.getValue() == null ? null : run.getValue().value())
        .list(
            row ->
                found.put(
                    row.runId("run_id"),
                    new State(
                        row.integer("last_no"),
                        row.integer("signals"),
                        row.bigint("bytes"),
                        row.bool("simple"))));
    return found;
  }

  /**
   * A stored signal, received or not.
   *
   * @param failed whether it is the failure of a callback
   */
  public record Known(String name, boolean failed) {}

  /**
   * Returns which of these signals are stored. {@code chains} has the chain of each signal's run.
   */
  public static Map<SignalRow.Key, Known> known(Session tx, Map<SignalRow.Key, RunId> chains)
      throws SQLException {
    List<Map.Entry<SignalRow.Key, RunId>> signals = List.copyOf(chains.entrySet());
    Map<SignalRow.Key, Known> found = new HashMap<>();
    tx.query(KNOWN_SQL)
        .bindUuids(signals, signal -> signal.getKey().runId().value())
        .bindUuids(signals, signal -> signal.getValue().value())
        .bindTexts(signals, signal -> signal.getKey().signalId())
        .list(
            row ->
                found.put(
                    new SignalRow.Key(row.runId("run_id"), row.text("signal_id")),
                    new Known(row.text("name"), "FAILED".equals(row.textOrNull("answer")))));
    return found;
  }

  /** Up to {@code signalsMax} signals of a name that a run wants to receive. */
  public record Wanted(RunId runId, String name, int signalsMax) {}

  /**
   * Returns the oldest buffered signals.
   *
   * @throws SQLException with {@link SqlErrors#LIMIT_EXCEEDED} if several are read and their
   *     contents are too large for one transaction
   */
  public static List<SignalRow> oldest(Session tx, Collection<Wanted> wanted) throws SQLException {
    long runs = wanted.stream().map(Wanted::runId).distinct().count();
    long bytesMax = runs == 1 ? Long.MAX_VALUE : READ_BYTES_MAX;
    return tx.query(OLDEST_SQL)
        .bind(bytesMax)
        .bindUuids(wanted, each -> each.runId().value())
        .bindTexts(wanted, Wanted::name)
        .bindInts(wanted, Wanted::signalsMax)
        .list(row -> map(row, bytesMax));
  }

  /** A branch of a run whose steps are stopped. The scope ends with a slash. */
  public record Scope(RunId runId, String scope) {}

  /** Up to {@code signalsMax} signals of a name that steps of a branch have received. */
  public record Received(Scope scope, String name, int signalsMax) {}

  /** Like {@link #oldest}, for signals that steps of branches have received. */
  public static List<SignalRow> received(Session tx, Collection<Received> wanted)
      throws SQLException {
    long runs = wanted.stream().map(each -> each.scope().runId()).distinct().count();
    long bytesMax = runs == 1 ? Long.MAX_VALUE : READ_BYTES_MAX;
    return tx.query(RECEIVED_SQL)
        .bind(bytesMax)
        .bindUuids(wanted, each -> each.scope().runId().value())
        .bindTexts(wanted, each -> each.scope().scope())
        .bindTexts(wanted, Received::name)
        .bindInts(wanted, Received::signalsMax)
        .list(row -> map(row, bytesMax));
  }

  /** Buffers all signals that steps of these branches have received. */
  public static void giveBack(Session tx, Collection<Scope> scopes) throws SQLException {
    tx.query(GIVE_BACK_SQL)
        .bindUuids(scopes, each -> each.runId().value())
        .bindTexts(scopes, Scope::scope)
        .update();
  }

  private static SignalRow map(Row row, long bytesMax) throws SQLException {
    long bytes = row.bigint("all_bytes");
    if (bytes > bytesMax) {
      throw new SQLException(
          "contents of signals: %d bytes (expected: at most %d in one transaction)"
              .formatted(bytes, bytesMax),
          SqlErrors.LIMIT_EXCEEDED);
    }
    String namespace = row.textOrNull("namespace");
    String externalId = row.textOrNull("external_id");
    return new SignalRow(
        row.runId("run_id"),
        row.integer("signal_no"),
        row.text("signal_id"),
        row.text("name"),
        row.payloadOrNull("data", "metadata"),
        row.textOrNull("step_id"),
        namespace == null || externalId == null
            ? null
            : new SignalRow.StartKey(namespace, externalId),
        row.runIdOrNull("chain_id"));
  }

  public static void insert(Session tx, Collection<SignalRow> signals) throws SQLException {
    tx.query(INSERT_SQL)
        .bindUuids(signals, signal -> signal.runId().value())
        .bindInts(signals, SignalRow::number)
        .bindTexts(signals, SignalRow::signalId)
        .bindTexts(signals, SignalRow::name)
        .bindBytes(signals, SignalRows::data)
        .bindTexts(signals, SignalRows::metadata)
        .bindTexts(signals, SignalRow::stepKey)
        .bindTexts(signals, s -> s.startedBy() == null ? null : s.startedBy().namespace())
        .bindTexts(signals, s -> s.startedBy() == null ? null : s.startedBy().externalId())
        .bindTexts(signals, SignalRow::answer)
        .bindUuids(signals, s -> s.chain() == null ? null : s.chain().value())
        .update();
  }

  /** Writes which step has received each signal. */
  public static void update(Session tx, Collection<SignalRow> signals) throws SQLException {
    tx.query(UPDATE_SQL)
        .bindUuids(signals, signal -> signal.runId().value())
        .bindInts(signals, SignalRow::number)
        .bindTexts(signals, SignalRow::stepKey)
        .update();
  }

  // A received signal has no content in this table, because its step has it.
  private static byte @Nullable [] data(SignalRow signal) {
    Payload payload = signal.payload();
    return signal.stepKey() != null || payload == null ? null : payload.data();
  }

  private static @Nullable String metadata(SignalRow signal) {
    Payload payload = signal.payload();
    return signal.stepKey() != null || payload == null ? null : Json.encode(payload.metadata());
  }

  /** A {@code SignalOrStartWorkflow} call, and the run that it would signal or start. */
  public record Sent(SignalRow.Key wanted, SignalRow.StartKey key) {}

  /** A run that has accepted a signal, and the name of that signal. */
  public record Accepted(RunId runId, String workflowType, String name) {}

  /** Returns, by the run and signal of each call, the run that has accepted the signal. */
  public static Map<SignalRow.Key, Accepted> accepted(Session tx, Collection<Sent> calls)
      throws SQLException {
    Map<SignalRow.Key, Accepted> found = new HashMap<>();
    tx.query(ACCEPTED_SQL)
        .bindUuids(calls, call -> call.wanted().runId().value())
        .bindTexts(calls, call -> call.key().namespace())
        .bindTexts(calls, call -> call.key().externalId())
        .bindTexts(calls, call -> call.wanted().signalId())
        .list(
            row ->
                found.put(
                    new SignalRow.Key(row.runId("wanted"), row.text("signal_id")),
                    new Accepted(
                        row.runId("run_id"), row.text("workflow_type"), row.text("name"))));
    return found;
  }

  public static void delete(Session tx, Collection<RunId> runs) throws SQLException {
    tx.query(DELETE_SQL).bindUuids(runs, RunId::value).update();
  }

  /** Deletes signals of a run that is purged. Returns how many were deleted. */
  public static int deleteSome(Session tx, RunId run, int max) throws SQLException {
    return tx.query(DELETE_SOME_SQL).bind(run.value()).bind(max).update();
  }

  /**
   * Returns the weight of each run's signals; counts at most {@code max} signals of a run. The runs
   * need not be locked.
   */
  public static Map<RunId, Integer> storedRows(Session session, Collection<RunId> runs, int max)
      throws SQLException {
    Map<RunId, Integer> weights = new HashMap<>();
    session
        .query(STORED_ROWS_SQL)
        .bind(max)
        .bindUuids(runs, RunId::value)
        .list(row -> weights.put(row.runId("run_id"), row.integer("weight")));
    return weights;
  }
}
