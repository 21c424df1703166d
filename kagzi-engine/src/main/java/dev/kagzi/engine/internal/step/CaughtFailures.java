package dev.kagzi.engine.internal.step;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Map;

/**
 * Failures that the workflow code has caught: it received them and then executed another step. A
 * resume does not execute these steps again, because the code has already reacted to their
 * failures.
 */
public final class CaughtFailures {
  /** Moves caught failures into the next attempt of the run, where they stay final. */
  public static final String CARRY_OVER_SQL =
      """
      UPDATE kagzi.step_runs c
         SET run_attempt = n.attempt
        FROM unnest(?::uuid[], ?::int[]) AS n (run_id, attempt)
       WHERE c.run_id = n.run_id
         AND c.run_attempt = n.attempt - 1
         AND c.status = 'FAILED'
         AND c.final
         AND EXISTS (SELECT 1 FROM kagzi.step_runs s
                      WHERE s.run_id = c.run_id AND s.started_at > c.finished_at
                        AND kagzi.failure_was_handled(c.step_id, s.step_id))
      """;

  private CaughtFailures() {}

  /** {@code attempts}: the resumed runs, each with its new attempt. */
  public static void carryOver(Session tx, Map<RunId, Integer> attempts) throws SQLException {
    Collection<Map.Entry<RunId, Integer>> runs = attempts.entrySet();
    tx.query(CARRY_OVER_SQL)
        .bindUuids(runs, run -> run.getKey().value())
        .bindInts(runs, Map.Entry::getValue)
        .update();
  }
}
