package dev.kagzi.engine.step;

import dev.kagzi.engine.db.Session;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Map;
import java.util.UUID;

/**
 * Failures that the code was told, and after which it did something else: it has caught them. Their
 * steps are not executed again when the run is resumed, since what came of them has been done.
 */
public final class CaughtFailures {
  /** They are final in the next attempt of the run as they were in the one before. */
  public static final String CARRY_OVER_SQL =
      """
      UPDATE kagzi.step_runs c
         SET run_attempt = n.attempt
        FROM unnest(?::uuid[], ?::int[]) AS n (run_id, attempt)
       WHERE c.run_id = n.run_id
         AND c.run_attempt = n.attempt - 1
         AND c.status = 'FAILED'
         AND c.final
         AND EXISTS (SELECT FROM kagzi.step_runs s
                      WHERE s.run_id = c.run_id AND s.started_at > c.finished_at
                        AND kagzi.went_on(c.step_id, s.step_id))
      """;

  private CaughtFailures() {}

  /**
   * Carries them over.
   *
   * @param attempts of runs that are resumed, each with the attempt that begins
   */
  public static void carryOver(Session tx, Map<UUID, Integer> attempts) throws SQLException {
    Collection<Map.Entry<UUID, Integer>> runs = attempts.entrySet();
    tx.query(CARRY_OVER_SQL)
        .bindUuids(runs, Map.Entry::getKey)
        .bindInts(runs, Map.Entry::getValue)
        .update();
  }
}
