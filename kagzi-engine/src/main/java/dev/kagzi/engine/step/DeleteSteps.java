package dev.kagzi.engine.step;

import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/** Deletes the steps of runs that go. */
public final class DeleteSteps {
  /** Counts no further than somebody wants to know. */
  static final String WEIGH_SQL =
      """
      SELECT n.run_id,
             (SELECT count(*)
                FROM (SELECT FROM kagzi.step_runs s WHERE s.run_id = n.run_id LIMIT ?) AS x)
               AS steps
        FROM unnest(?::uuid[]) AS n (run_id)
      """;

  static final String DELETE_SQL = "DELETE FROM kagzi.step_runs WHERE run_id = ANY (?::uuid[])";

  static final String DELETE_SOME_SQL =
      """
      DELETE FROM kagzi.step_runs
       WHERE ctid = ANY (ARRAY(SELECT s.ctid FROM kagzi.step_runs s WHERE s.run_id = ? LIMIT ?))
      """;

  private DeleteSteps() {}

  /** How many rows each has, counted up to a limit. */
  public static Map<RunId, Integer> weigh(Session session, Collection<RunId> runs, int max)
      throws SQLException {
    Map<RunId, Integer> weights = new HashMap<>();
    session
        .query(WEIGH_SQL)
        .bind(max)
        .bindUuids(runs, RunId::value)
        .list(row -> weights.put(new RunId(row.uuid("run_id")), row.integer("steps")));
    return weights;
  }

  public static void delete(Session tx, Collection<RunId> runs) throws SQLException {
    tx.query(DELETE_SQL).bindUuids(runs, RunId::value).update();
  }

  /** Deletes no more than so many rows of a run that is gone, and returns how many they were. */
  public static int deleteSome(Session tx, RunId run, int max) throws SQLException {
    return tx.query(DELETE_SOME_SQL).bind(run.value()).bind(max).update();
  }
}
