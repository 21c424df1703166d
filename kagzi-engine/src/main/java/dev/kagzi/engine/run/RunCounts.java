package dev.kagzi.engine.run;

import dev.kagzi.engine.db.Session;
import java.sql.SQLException;

/**
 * How many runs there are of each status. Whatever changes a run's status says so by the same
 * statement, as a row of its own; here the rows are folded into the counts. Counts and rows
 * together are exact at any moment, and a reader adds both up.
 */
public final class RunCounts {
  /** Takes what nobody else takes. In the order of the key: two servers may fold at once. */
  static final String FOLD_SQL =
      """
      WITH taken AS (
        DELETE FROM kagzi.run_changes
         WHERE ctid = ANY (ARRAY(SELECT ctid FROM kagzi.run_changes LIMIT ?
                                    FOR UPDATE SKIP LOCKED))
        RETURNING namespace, workflow_type, task_queue, version, from_status, to_status, runs),
      folded AS (
        INSERT INTO kagzi.run_counts AS c
               (namespace, workflow_type, task_queue, version, status, runs)
        SELECT t.namespace, t.workflow_type, t.task_queue, t.version, s.status, sum(s.runs)
          FROM taken t
         CROSS JOIN LATERAL (VALUES (t.to_status, t.runs), (t.from_status, -t.runs))
                 AS s (status, runs)
         WHERE s.status IS NOT NULL
         GROUP BY t.namespace, t.workflow_type, t.task_queue, t.version, s.status
        HAVING sum(s.runs) <> 0
         ORDER BY t.namespace, t.workflow_type, t.task_queue, t.version, s.status
            ON CONFLICT (namespace, workflow_type, task_queue, version, status) DO UPDATE
               SET runs = c.runs + excluded.runs)
      SELECT count(*) AS rows FROM taken
      """;

  /** Of what once was there and is no more. A count that somebody is changing is left alone. */
  static final String FORGET_SQL =
      """
      DELETE FROM kagzi.run_counts
       WHERE ctid = ANY (ARRAY(SELECT ctid FROM kagzi.run_counts WHERE runs = 0 LIMIT ?
                                  FOR UPDATE SKIP LOCKED))
      """;

  private RunCounts() {}

  /** Folds so many changes at most; answers how many there were. */
  public static int fold(Session session, int max) throws SQLException {
    return session.query(FOLD_SQL).bind(max).first(row -> row.integer("rows")).orElse(0);
  }

  /** Forgets counts of nothing. */
  public static int forgetZeros(Session session, int max) throws SQLException {
    return session.query(FORGET_SQL).bind(max).update();
  }
}
