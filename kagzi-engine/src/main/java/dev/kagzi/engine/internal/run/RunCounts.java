package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.internal.db.Session;
import java.sql.SQLException;

/**
 * Numbers of runs by status. Every statement that changes a run's status also inserts a row into
 * {@code run_changes}. This class adds those rows to {@code run_counts} and deletes them. Counts
 * and pending changes together are exact at any moment, so a reader sums both. Starts and ends are
 * also added to {@code run_rates}, in the minute of the fold. A change has no time of its own, so
 * changes of servers that are gone must be folded with their age, see {@link #foldOld}.
 */
public final class RunCounts {
  /** Skips locked rows; updates in key order, so that two servers cannot deadlock. */
  static final String FOLD_SQL =
      """
      WITH locked AS MATERIALIZED (
        SELECT change_id FROM kagzi.run_changes LIMIT ? FOR UPDATE SKIP LOCKED),
      taken AS (
        DELETE FROM kagzi.run_changes c USING locked l WHERE c.change_id = l.change_id
        RETURNING c.namespace, c.workflow_type, c.task_queue, c.version, c.from_status,
                  c.to_status, c.runs),
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
               SET runs = c.runs + excluded.runs),
      rated AS (
        INSERT INTO kagzi.run_rates AS r
               (namespace, minute, workflow_type, task_queue, started, completed, failed,
                cancelled)
        SELECT t.namespace, date_trunc('minute', c.now), t.workflow_type, t.task_queue,
               sum(CASE WHEN t.from_status IS NULL THEN t.runs ELSE 0 END),
               sum(CASE WHEN t.to_status = 'COMPLETED' THEN t.runs ELSE 0 END),
               sum(CASE WHEN t.to_status IN ('FAILED', 'TIMED_OUT') THEN t.runs ELSE 0 END),
               sum(CASE WHEN t.to_status = 'CANCELLED' THEN t.runs ELSE 0 END)
          FROM taken t
         CROSS JOIN (SELECT kagzi.clock() - ?::bigint * interval '1 millisecond' AS now) AS c
         WHERE t.from_status IS NULL
            OR t.to_status IN ('COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED')
         GROUP BY t.namespace, c.now, t.workflow_type, t.task_queue
         ORDER BY t.namespace, t.workflow_type, t.task_queue
            ON CONFLICT (namespace, minute, workflow_type, task_queue) DO UPDATE
               SET started = r.started + excluded.started,
                   completed = r.completed + excluded.completed,
                   failed = r.failed + excluded.failed,
                   cancelled = r.cancelled + excluded.cancelled)
      SELECT count(*) AS rows FROM taken
      """;

  /** Deletes counts of zero, except those that another transaction is changing. */
  static final String DELETE_ZEROS_SQL =
      """
      WITH locked AS MATERIALIZED (
        SELECT namespace, workflow_type, task_queue, version, status
          FROM kagzi.run_counts WHERE runs = 0 LIMIT ? FOR UPDATE SKIP LOCKED)
      DELETE FROM kagzi.run_counts c USING locked l
       WHERE c.namespace = l.namespace AND c.workflow_type = l.workflow_type
         AND c.task_queue = l.task_queue AND c.version = l.version AND c.status = l.status
      """;

  static final String DELETE_RATES_SQL =
      """
      WITH old AS MATERIALIZED (
        SELECT r.namespace, r.minute, r.workflow_type, r.task_queue
          FROM kagzi.run_rates r
         CROSS JOIN (SELECT kagzi.clock() AS now) AS c
         WHERE r.minute < c.now - interval '3 hours'
         LIMIT ? FOR UPDATE OF r SKIP LOCKED)
      DELETE FROM kagzi.run_rates r USING old o
       WHERE r.namespace = o.namespace AND r.minute = o.minute
         AND r.workflow_type = o.workflow_type AND r.task_queue = o.task_queue
      """;

  private RunCounts() {}

  /** Folds up to {@code max} changes into the counts. Returns how many changes were folded. */
  public static int fold(Session session, int max) throws SQLException {
    return foldOld(session, 0, max);
  }

  /** Like {@link #fold}, of changes that were made {@code ageMs} milliseconds ago. */
  public static int foldOld(Session session, long ageMs, int max) throws SQLException {
    return session
        .query(FOLD_SQL)
        .bind(max)
        .bind(ageMs)
        .first(row -> row.integer("rows"))
        .orElse(0);
  }

  /** Deletes rates of minutes that no display shows any more. */
  public static int deleteOldRates(Session session, int max) throws SQLException {
    return session.query(DELETE_RATES_SQL).bind(max).update();
  }

  public static int deleteZeros(Session session, int max) throws SQLException {
    return session.query(DELETE_ZEROS_SQL).bind(max).update();
  }
}
