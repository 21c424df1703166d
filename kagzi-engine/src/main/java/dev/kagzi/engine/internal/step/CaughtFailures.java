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
  /**
   * The steps of the run {@code n.run_id} that have not completed: whether a step is the last
   * attempt, and whether its failure was caught. A failure was caught if a step of the same or an
   * earlier attempt of the run began after it for which {@code kagzi.failure_was_handled} is true.
   *
   * <p>To call that function for each pair of steps would take minutes for a run with thousands of
   * failed branches. This query sorts the steps instead. It needs no join, because sessions of
   * writers have only nested loops.
   *
   * <p>A step {@code a[0]/b[1]/c} is in the scopes "", "a[0]" and "a[0]/b[1]". Each scope has
   * parts: one for each group of branches (here "a" and "b"), and one, "/", for the scope's own
   * steps (here {@code c}). In each of its scopes, a failure was caught by a later step of another
   * part; in the innermost scope, by any later step. So the last start of each part is enough.
   *
   * <p>A resume moves caught failures into the new attempt of the run, but not the steps that
   * followed them. Only the moved failures are compared with the steps of earlier attempts.
   */
  public static final String UNCOMPLETED_STEPS =
      """
      SELECT p.step_id, p.attempt, p.run_attempt, p.is_last,
             coalesce(bool_or(p.failed_at < CASE WHEN p.part = '/' THEN p.last_start
                                                 ELSE p.last_start_of_others END), false) AS caught
        FROM (SELECT l.*,
                     max(l.last_start_of_part) OVER (PARTITION BY l.in_attempt, l.scope)
                       AS last_start,
                     coalesce(
                       max(l.last_start_of_part)
                         OVER (parts GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
                       max(l.last_start_of_part)
                         OVER (parts GROUPS BETWEEN 1 FOLLOWING AND 1 FOLLOWING))
                       AS last_start_of_others
                FROM (SELECT k.*,
                             max(k.started_at) OVER (PARTITION BY k.in_attempt, k.scope, k.part)
                               AS last_start_of_part
                        FROM (SELECT s.step_id, s.attempt, s.run_attempt, s.status, s.is_last,
                                     s.failed_at, a.in_attempt,
                                     CASE WHEN a.in_attempt = s.run_attempt
                                          THEN s.started_at END AS started_at,
                                     s.path[:g.level::int - 1] COLLATE "C" AS scope,
                                     CASE WHEN g.level < cardinality(s.path)
                                          THEN split_part(g.segment, '[', 1)
                                          ELSE '/' END COLLATE "C" AS part
                                FROM (SELECT x.step_id, x.attempt, x.run_attempt, x.status,
                                             x.started_at, string_to_array(x.step_id, '/') AS path,
                                             x.attempt = max(x.attempt) OVER (PARTITION BY x.step_id)
                                               AS is_last,
                                             CASE WHEN x.final AND x.status = 'FAILED'
                                                  THEN x.finished_at END AS failed_at,
                                             min(x.finished_at)
                                               FILTER (WHERE x.final AND x.status = 'FAILED')
                                               OVER () AS first_failed_at,
                                             max(x.started_at)
                                               OVER (ORDER BY x.run_attempt
                                                     GROUPS BETWEEN UNBOUNDED PRECEDING
                                                                AND 1 PRECEDING)
                                               AS last_start_before
                                        FROM kagzi.step_runs x
                                       WHERE x.run_id = n.run_id) AS s
                               CROSS JOIN LATERAL unnest(
                                     CASE WHEN s.failed_at < s.last_start_before
                                          THEN ARRAY(SELECT generate_series(1, s.run_attempt))
                                          ELSE ARRAY[s.run_attempt] END) AS a (in_attempt)
                               CROSS JOIN LATERAL unnest(s.path) WITH ORDINALITY
                                 AS g (segment, level)
                               WHERE s.status <> 'COMPLETED'
                                  OR s.started_at > s.first_failed_at) AS k) AS l
              WINDOW parts AS (PARTITION BY l.in_attempt, l.scope
                               ORDER BY l.last_start_of_part DESC NULLS LAST, l.part)) AS p
       WHERE p.status <> 'COMPLETED'
       GROUP BY p.step_id, p.attempt, p.run_attempt, p.is_last
      """;

  // OFFSET 0 makes the planner compute the caught failures first, and then find each by its key.
  /** Moves caught failures into the next attempt of the run, where they stay final. */
  public static final String CARRY_OVER_SQL =
      """
      UPDATE kagzi.step_runs c
         SET run_attempt = f.next_attempt
        FROM (SELECT n.run_id, n.attempt AS next_attempt, s.step_id, s.attempt
                FROM unnest(?::uuid[], ?::int[]) AS n (run_id, attempt)
               CROSS JOIN LATERAL (
      """
          + UNCOMPLETED_STEPS
          + """
               ) AS s
               WHERE s.caught AND s.run_attempt = n.attempt - 1
              OFFSET 0) AS f
       WHERE c.run_id = f.run_id AND c.step_id = f.step_id AND c.attempt = f.attempt
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
