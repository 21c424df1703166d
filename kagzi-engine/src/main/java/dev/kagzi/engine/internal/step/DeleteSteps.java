package dev.kagzi.engine.internal.step;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * Deletes the steps of purged runs. A large value is stored in TOAST rows of about 2 KB each, which
 * are deleted too. The weight of a step is the number of all its rows.
 */
public final class DeleteSteps {
  // pg_column_size returns the stored size without reading the TOAST rows.
  private static final String WEIGHT =
      """
      1 + (pg_column_size(coalesce(s.input, '')) + pg_column_size(coalesce(s.output, ''))
           + pg_column_size(coalesce(s.error, 'null')) + pg_column_size(coalesce(s.progress, '')))
          / 2000
      """;

  /** Reads at most {@code max} rows per run: a row weighs at least 1, so these are enough. */
  static final String STORED_ROWS_SQL =
      """
      SELECT n.run_id,
             (SELECT coalesce(sum(x.weight), 0)::int
                FROM (SELECT %sAS weight
                        FROM kagzi.step_runs s WHERE s.run_id = n.run_id LIMIT ?) AS x) AS weight
        FROM unnest(?::uuid[]) AS n (run_id)
      """
          .formatted(WEIGHT);

  static final String DELETE_SQL = "DELETE FROM kagzi.step_runs WHERE run_id = ANY (?::uuid[])";

  /** Deletes the first step with any weight, and more steps up to the weight limit. */
  static final String DELETE_SOME_SQL =
      """
      DELETE FROM kagzi.step_runs d
       USING (SELECT x.run_id, x.step_id, x.attempt, x.n, sum(x.weight) OVER (ORDER BY x.n) AS weights
                FROM (SELECT s.run_id, s.step_id, s.attempt, row_number() OVER () AS n, %sAS weight
                        FROM kagzi.step_runs s WHERE s.run_id = ? LIMIT ?) AS x) AS w
       WHERE (w.n = 1 OR w.weights <= ?)
         AND d.run_id = w.run_id AND d.step_id = w.step_id AND d.attempt = w.attempt
      """
          .formatted(WEIGHT);

  private DeleteSteps() {}

  /** Returns the weight of each run's steps; counts at most {@code max} steps of a run. */
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

  public static void delete(Session tx, Collection<RunId> runs) throws SQLException {
    tx.query(DELETE_SQL).bindUuids(runs, RunId::value).update();
  }

  /** Deletes steps of a run that is purged, up to a weight. Returns how many were deleted. */
  public static int deleteSome(Session tx, RunId run, int weightMax) throws SQLException {
    return tx.query(DELETE_SOME_SQL).bind(run.value()).bind(weightMax).bind(weightMax).update();
  }
}
