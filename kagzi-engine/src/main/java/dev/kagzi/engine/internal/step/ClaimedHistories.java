package dev.kagzi.engine.internal.step;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads the recorded steps of claimed runs. Most runs have few and small steps: one statement reads
 * them. For the others it finds out that there are more, and two further statements measure their
 * histories and read those that fit into a task.
 */
public final class ClaimedHistories {
  private static final int SHORT_ROWS_MAX = 12;
  private static final int SHORT_ROW_BYTES_MAX = 512;

  // OFFSET 0: otherwise PostgreSQL copies the expression, and computes it six times for each row.
  /** All rows of a run with a short history, and one row too many of a run with a longer one. */
  public static final String SHORT_SQL =
      "SELECT "
          + ReadSteps.COLUMNS
          + """
            , s.bytes, (extract(epoch FROM kagzi.clock()) * 1000000)::bigint AS now_us,
              (extract(epoch FROM greatest(s.created_at, s.finished_at)) * 1000000)::bigint
                AS recorded_us,
              (extract(epoch FROM s.created_at) * 1000000)::bigint AS created_us
              FROM unnest(?::uuid[]) AS n (run_id)
             CROSS JOIN LATERAL (
                   SELECT x.run_id, x.step_id, x.attempt, x.epoch, x.run_attempt, x.kind, x.status,
                          x.final, x.retry_policy, x.child_run_id, x.input_hash,
                          x.name, x.due_at, x.created_at, x.finished_at,
                          b.bytes,
                          CASE WHEN b.bytes <= %1$d THEN x.output END AS output,
                          CASE WHEN b.bytes <= %1$d THEN x.output_metadata END AS output_metadata,
                          CASE WHEN b.bytes <= %1$d THEN x.error END AS error,
                          CASE WHEN b.bytes <= %1$d THEN x.progress END AS progress,
                          CASE WHEN b.bytes <= %1$d THEN x.progress_metadata END AS progress_metadata
                     FROM kagzi.step_runs x
                    CROSS JOIN LATERAL (SELECT %2$s + 100 AS bytes OFFSET 0) AS b
                    WHERE x.run_id = n.run_id
                    ORDER BY x.step_id, x.attempt
                    LIMIT %3$d) AS s
            """
              .formatted(SHORT_ROW_BYTES_MAX, ReadSteps.bytes("x"), SHORT_ROWS_MAX + 1);

  private ClaimedHistories() {}

  /**
   * The history of a claimed run.
   *
   * @param steps how many steps the run has recorded
   * @param recorded the last attempt of each step, by creation time; empty if they are apart
   * @param isApart the steps do not fit into a task, so the worker has to fetch them
   */
  public record History(int steps, List<RecordedStep> recorded, boolean isApart) {
    public static final History NONE = new History(0, List.of(), false);
  }

  private record ShortRow(
      String step, int attempt, RecordedStep recorded, long createdUs, int bytes) {}

  /**
   * Reads the histories. A run that is missing in the result has no recorded steps.
   *
   * @param attempts the claimed runs, each with its current attempt
   * @param bytesMax limit of one history; a longer one is not part of the task
   * @param allBytesMax limit of the sum of the histories that are part of tasks
   */
  public static Map<RunId, History> read(
      Session tx, Map<RunId, Integer> attempts, long bytesMax, long allBytesMax)
      throws SQLException {
    Map<RunId, History> found = new HashMap<>();
    long shortBytesMax = (long) SHORT_ROWS_MAX * SHORT_ROW_BYTES_MAX * attempts.size();
    if (shortBytesMax > allBytesMax) {
      readOthers(tx, attempts, bytesMax, allBytesMax, found);
      return found;
    }
    Map<RunId, List<ShortRow>> rows = new LinkedHashMap<>();
    tx.query(SHORT_SQL)
        .bindUuids(attempts.keySet(), RunId::value)
        .list(
            row -> {
              RunId run = row.runId("run_id");
              return rows.computeIfAbsent(run, id -> new ArrayList<>())
                  .add(shortRow(row, attempts.getOrDefault(run, 1)));
            });
    Map<RunId, Integer> others = new LinkedHashMap<>();
    long left = allBytesMax;
    for (Map.Entry<RunId, List<ShortRow>> of : rows.entrySet()) {
      long bytes = of.getValue().stream().mapToLong(ShortRow::bytes).sum();
      if (isWhole(of.getValue()) && bytes <= Math.min(bytesMax, left)) {
        left -= bytes;
        found.put(of.getKey(), history(of.getValue()));
      } else {
        others.put(of.getKey(), attempts.getOrDefault(of.getKey(), 1));
      }
    }
    if (!others.isEmpty()) {
      readOthers(tx, others, bytesMax, left, found);
    }
    return found;
  }

  private static ShortRow shortRow(Row row, int runAttempt) throws SQLException {
    return new ShortRow(
        row.text("step_id"),
        row.integer("attempt"),
        ReadSteps.recorded(row, runAttempt),
        row.bigint("created_us"),
        row.integer("bytes"));
  }

  private static boolean isWhole(Collection<ShortRow> rows) {
    return rows.size() <= SHORT_ROWS_MAX
        && rows.stream().allMatch(row -> row.bytes <= SHORT_ROW_BYTES_MAX);
  }

  private static History history(List<ShortRow> rows) {
    Map<String, ShortRow> last = new LinkedHashMap<>();
    for (ShortRow row : rows) {
      last.merge(row.step, row, (one, other) -> one.attempt > other.attempt ? one : other);
    }
    // The sort is stable: steps that were created at the same time stay in the order of their keys.
    List<RecordedStep> recorded =
        last.values().stream()
            .sorted(Comparator.comparingLong(ShortRow::createdUs))
            .map(ShortRow::recorded)
            .toList();
    int steps = (int) rows.stream().filter(row -> row.attempt == 1).count();
    return new History(steps, recorded, false);
  }

  private static void readOthers(
      Session tx,
      Map<RunId, Integer> attempts,
      long bytesMax,
      long allBytesMax,
      Map<RunId, History> found)
      throws SQLException {
    Map<RunId, ReadSteps.Size> sizes = ReadSteps.sizes(tx, attempts.keySet());
    Map<RunId, Integer> fitting = new LinkedHashMap<>(attempts);
    long left = allBytesMax;
    for (Map.Entry<RunId, ReadSteps.Size> size : sizes.entrySet()) {
      long bytes = size.getValue().bytes();
      if (bytes > bytesMax || bytes > left) {
        fitting.remove(size.getKey());
      } else {
        left -= bytes;
      }
    }
    Map<RunId, List<RecordedStep>> recorded =
        fitting.isEmpty() ? Map.of() : ReadSteps.history(tx, fitting);
    Set<RunId> inTask = fitting.keySet();
    sizes.forEach(
        (run, size) ->
            found.put(
                run,
                new History(
                    size.steps(), recorded.getOrDefault(run, List.of()), !inTask.contains(run))));
  }
}
