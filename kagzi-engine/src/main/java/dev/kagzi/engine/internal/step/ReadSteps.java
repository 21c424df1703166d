package dev.kagzi.engine.internal.step;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.db.SqlErrors;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepStatus;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

public final class ReadSteps {
  private static final int PAGE_STEPS_MAX = 1_000;

  /** The journal splits a batch whose steps have larger outputs. */
  private static final long OUTPUTS_BYTES_MAX = 8L << 20;

  static final String COLUMNS =
      """
      s.run_id, s.step_id, s.attempt, s.epoch, s.run_attempt, s.kind, s.status, s.final,
      s.output, s.output_metadata, s.error, s.retry_policy, s.child_run_id, s.input_hash, s.name,
      CASE WHEN s.status <> 'COMPLETED' THEN s.progress END AS progress, s.progress_metadata,
      (extract(epoch FROM s.due_at) * 1000000)::bigint AS due_us
      """;

  /** All attempts of the given steps; without outputs if their sum is too large. */
  public static final String BY_KEY_SQL =
      "SELECT "
          + COLUMNS
          + """
            , s.all_bytes
              FROM (SELECT x.run_id, x.step_id, x.attempt, x.epoch, x.run_attempt, x.kind, x.status,
                           x.final, x.output_metadata, x.error, x.retry_policy, x.child_run_id,
                           x.input_hash, x.name, x.progress, x.progress_metadata, x.due_at,
                           x.all_bytes,
                           CASE WHEN x.all_bytes <= ?::bigint THEN x.output END AS output
                      FROM (SELECT t.*,
                                   coalesce(sum(octet_length(t.output)) OVER (), 0) AS all_bytes
                              FROM unnest(?::uuid[], ?::text[]) AS n (run_id, step_id)
                              JOIN kagzi.step_runs t
                                ON t.run_id = n.run_id AND t.step_id = n.step_id) AS x) AS s
             ORDER BY s.run_id, s.step_id, s.attempt
            """;

  /**
   * The last attempts of awaited steps. Outputs and errors are read only for wanted steps, and only
   * up to a sum of bytes per run. None is read if their sum over all runs is too large.
   */
  public static final String AWAITED_SQL =
      "SELECT "
          + COLUMNS
          + """
            , s.withheld, s.all_bytes
              FROM (SELECT l.run_id, l.step_id, l.attempt, l.epoch, l.run_attempt, l.kind, l.status,
                           l.final, l.retry_policy, l.child_run_id, l.input_hash, l.name,
                           l.progress, l.progress_metadata, l.due_at, l.all_bytes,
                           CASE WHEN r.read THEN l.output END AS output,
                           CASE WHEN r.read THEN l.output_metadata END AS output_metadata,
                           CASE WHEN r.read THEN l.error END AS error,
                           NOT l.included AND (l.bytes > 0 OR l.output IS NOT NULL) AS withheld
                      FROM (SELECT t.*,
                                   coalesce(sum(t.bytes) FILTER (WHERE t.included) OVER (), 0)
                                     AS all_bytes
                              FROM (SELECT x.*, b.bytes,
                                           n.wanted
                                           AND sum(b.bytes) OVER (PARTITION BY n.run_id, n.wanted
                                                                      ORDER BY n.place) - b.bytes
                                                 < ?::bigint AS included
                                      FROM unnest(?::uuid[], ?::text[], ?::boolean[])
                                             WITH ORDINALITY AS n (run_id, step_id, wanted, place)
                                     CROSS JOIN LATERAL (
                                           SELECT *
                                             FROM kagzi.step_runs t
                                            WHERE t.run_id = n.run_id AND t.step_id = n.step_id
                                            ORDER BY t.attempt DESC
                                            LIMIT 1) AS x
                                     CROSS JOIN LATERAL (
                                           SELECT coalesce(octet_length(x.output), 0)
                                                    + coalesce(
                                                        octet_length(x.output_metadata::text), 0)
                                                    + coalesce(octet_length(x.error::text), 0)
                                                    AS bytes) AS b) AS t) AS l
                     CROSS JOIN LATERAL (
                           SELECT l.included AND l.all_bytes <= ?::bigint AS read) AS r) AS s
            """;

  /** The last attempt of every step of the runs, by creation time. */
  public static final String HISTORY_SQL =
      "SELECT "
          + COLUMNS
          + """
            , (extract(epoch FROM kagzi.clock()) * 1000000)::bigint AS now_us,
              (extract(epoch FROM greatest(s.created_at, s.finished_at)) * 1000000)::bigint
                AS recorded_us
              FROM unnest(?::uuid[]) AS n (run_id)
              JOIN LATERAL (
                     SELECT DISTINCT ON (x.step_id) x.*
                       FROM kagzi.step_runs x
                      WHERE x.run_id = n.run_id
                      ORDER BY x.step_id, x.attempt DESC) AS s ON true
             ORDER BY s.run_id, s.created_at, s.step_id
            """;

  // Without these settings, if there are no statistics yet, the planner reads and sorts all
  // remaining steps of the run for every page.
  private static final String PAGE_SETTINGS =
      "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off";

  /**
   * The next steps of one run in key order, each with its last attempt: as many as fit into the
   * byte limit, at least one. Outputs and progress are not read before the row is known to fit.
   */
  public static final String PAGE_SQL =
      "SELECT "
          + COLUMNS
          + """
            , (extract(epoch FROM kagzi.clock()) * 1000000)::bigint AS now_us,
              (extract(epoch FROM greatest(s.created_at, s.finished_at)) * 1000000)::bigint
                AS recorded_us
              FROM (SELECT l.*, sum(l.bytes) OVER (ORDER BY l.step_id) - l.bytes AS bytes_before
                      FROM (SELECT x.*,
                                   coalesce(octet_length(x.output), 0)
                                     + coalesce(octet_length(x.output_metadata::text), 0)
                                     + coalesce(octet_length(x.error::text), 0)
                                     + CASE WHEN x.status <> 'COMPLETED'
                                            THEN coalesce(octet_length(x.progress), 0)
                                            ELSE 0 END
                                     + octet_length(x.step_id) + 100 AS bytes
                              FROM kagzi.step_runs x
                             WHERE x.run_id = ? AND x.step_id > ?
                               AND x.attempt = (SELECT max(y.attempt)
                                                  FROM kagzi.step_runs y
                                                 WHERE y.run_id = x.run_id
                                                   AND y.step_id = x.step_id)
                             ORDER BY x.step_id
                             LIMIT ?) AS l) AS s
             WHERE s.bytes_before = 0 OR s.bytes_before + s.bytes <= ?
             ORDER BY s.step_id
            """;

  /**
   * The number of steps of each run and the approximate size of all their attempts. Outputs and
   * progress are measured without being read; errors are read, because a jsonb value has no stored
   * length.
   */
  public static final String SIZES_SQL =
      """
      SELECT n.run_id, h.steps, h.bytes
        FROM unnest(?::uuid[]) AS n (run_id)
       CROSS JOIN LATERAL (
             SELECT count(*) FILTER (WHERE s.attempt = 1) AS steps,
                    coalesce(sum(%s + 100), 0)::bigint AS bytes
               FROM kagzi.step_runs s
              WHERE s.run_id = n.run_id) AS h
      """
          .formatted(bytes("s"));

  private ReadSteps() {}

  /**
   * Returns SQL for the approximate size of what a worker receives of a row. It does not read
   * toasted outputs and progress; it reads errors, because a jsonb value has no stored length.
   */
  static String bytes(String row) {
    return """
        coalesce(octet_length(%1$s.output), 0) + coalesce(octet_length(%1$s.error::text), 0)
        + CASE WHEN %1$s.status <> 'COMPLETED' THEN coalesce(octet_length(%1$s.progress), 0)
               ELSE 0 END"""
        .formatted(row);
  }

  public record Size(int steps, long bytes) {
    public static final Size NONE = new Size(0, 0);
  }

  public static Map<RunId, Size> sizes(Session tx, Collection<RunId> runs) throws SQLException {
    Map<RunId, Size> sizes = new HashMap<>();
    tx.query(SIZES_SQL)
        .bindUuids(runs, RunId::value)
        .list(
            row ->
                sizes.put(
                    row.runId("run_id"), new Size(row.integer("steps"), row.bigint("bytes"))));
    return sizes;
  }

  /**
   * Returns the attempts of each step, in order.
   *
   * @throws SQLException with {@link SqlErrors#LIMIT_EXCEEDED} if several steps are read and their
   *     outputs are too large for one transaction
   */
  public static Map<StepRow.Key, List<StepRow>> byKey(Session tx, Collection<StepRow.Key> keys)
      throws SQLException {
    Map<StepRow.Key, List<StepRow>> found = new HashMap<>();
    long bytesMax = keys.size() == 1 ? Long.MAX_VALUE : OUTPUTS_BYTES_MAX;
    List<StepRow> rows =
        tx.query(BY_KEY_SQL)
            .bind(bytesMax)
            .bindUuids(keys, k -> k.runId().value())
            .bindTexts(keys, StepRow.Key::stepKey)
            .list(
                row -> {
                  checkOutputs(row.bigint("all_bytes"), bytesMax);
                  return map(row);
                });
    for (StepRow row : rows) {
      found.computeIfAbsent(row.key(), key -> new ArrayList<>()).add(row);
    }
    return found;
  }

  /**
   * The result of {@link #awaited}.
   *
   * @param last the last attempt of each step
   * @param withheld the steps whose result was not read: over the byte limit, or not wanted
   */
  public record Awaited(Map<StepRow.Key, StepRow> last, Set<StepRow.Key> withheld) {
    public static final Awaited NONE = new Awaited(Map.of(), Set.of());
  }

  /**
   * Reads the last attempts of awaited steps.
   *
   * @param wanted the steps, in the order of the answer; true to read the result of the step if it
   *     fits
   * @param bytesMax limit of the results that are read per run; the result that crosses it is still
   *     read
   * @throws SQLException with {@link SqlErrors#LIMIT_EXCEEDED} if the results of several runs are
   *     too large for one transaction
   */
  public static Awaited awaited(Session tx, Map<StepRow.Key, Boolean> wanted, long bytesMax)
      throws SQLException {
    Map<StepRow.Key, StepRow> last = new HashMap<>();
    Set<StepRow.Key> withheld = new HashSet<>();
    List<Map.Entry<StepRow.Key, Boolean>> keys = List.copyOf(wanted.entrySet());
    long runs = keys.stream().map(k -> k.getKey().runId()).distinct().count();
    long allBytesMax = runs == 1 ? Long.MAX_VALUE : OUTPUTS_BYTES_MAX;
    tx.query(AWAITED_SQL)
        .bind(bytesMax)
        .bindUuids(keys, k -> k.getKey().runId().value())
        .bindTexts(keys, k -> k.getKey().stepKey())
        .bindBooleans(keys, Map.Entry::getValue)
        .bind(allBytesMax)
        .list(
            row -> {
              checkOutputs(row.bigint("all_bytes"), allBytesMax);
              StepRow step = map(row);
              if (row.bool("withheld")) {
                withheld.add(step.key());
              }
              return last.put(step.key(), step);
            });
    return new Awaited(last, withheld);
  }

  /** Reads histories of claimed runs; {@code runAttempts} has each run's current attempt. */
  public static Map<RunId, List<RecordedStep>> history(Session tx, Map<RunId, Integer> runAttempts)
      throws SQLException {
    Map<RunId, List<RecordedStep>> found = new LinkedHashMap<>();
    tx.query(HISTORY_SQL)
        .bindUuids(runAttempts.keySet(), RunId::value)
        .list(
            row -> {
              RunId run = row.runId("run_id");
              found
                  .computeIfAbsent(run, id -> new ArrayList<>())
                  .add(recorded(row, runAttempts.getOrDefault(run, 1)));
              return run;
            });
    return found;
  }

  /**
   * Reads the steps of a run after the given key, in key order. Returns as many as fit into {@code
   * bytesMax}, at least one; empty if there are no more.
   */
  public static List<RecordedStep> page(
      Session tx, RunId run, int runAttempt, String after, long bytesMax) throws SQLException {
    tx.query(PAGE_SETTINGS).execute();
    return tx.query(PAGE_SQL)
        .bind(run.value())
        .bind(after)
        .bind(PAGE_STEPS_MAX)
        .bind(bytesMax)
        .list(row -> recorded(row, runAttempt));
  }

  // A step of an earlier run attempt gets no place, because the current attempt may reach it in
  // another order. A child gets none either, because its row changes when the child ends.
  static RecordedStep recorded(Row row, int runAttempt) throws SQLException {
    StepRow step = map(row);
    long nowUs = row.bigint("now_us");
    RecordedStep recorded = step.recorded(nowUs, runAttempt);
    return step.runAttempt() == runAttempt && step.kind() != StepKind.CHILD_WORKFLOW
        ? recorded.withPlace(
            new RecordedStep.Place(step.epoch(), step.endUs(row.bigint("recorded_us"), nowUs)))
        : recorded;
  }

  private static void checkOutputs(long bytes, long bytesMax) throws SQLException {
    if (bytes > bytesMax) {
      throw new SQLException(
          "outputs of recorded steps: %d bytes (expected: at most %d in one transaction)"
              .formatted(bytes, bytesMax),
          SqlErrors.LIMIT_EXCEEDED);
    }
  }

  private static StepRow map(Row row) throws SQLException {
    return new StepRow(
        row.runId("run_id"),
        row.text("step_id"),
        row.integer("attempt"),
        row.integer("epoch"),
        row.integer("run_attempt"),
        StepKind.valueOf(row.text("kind")),
        StepStatus.valueOf(row.text("status")),
        row.bool("final"),
        null,
        row.payloadOrNull("output", "output_metadata"),
        row.failureOrNull("error"),
        row.textOrNull("retry_policy"),
        row.bigintOrNull("due_us"),
        null,
        0,
        row.runIdOrNull("child_run_id"),
        row.textOrNull("input_hash"),
        row.payloadOrNull("progress", "progress_metadata"),
        row.textOrNull("name"));
  }
}
