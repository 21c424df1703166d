package dev.kagzi.engine.internal.schedule;

import dev.kagzi.engine.internal.db.Session;
import java.sql.SQLException;

/** Folds {@code schedule_changes} into {@code schedule_counts}. */
public final class ScheduleCounts {
  static final String FOLD_SQL =
      """
      WITH locked AS MATERIALIZED (
        SELECT change_id FROM kagzi.schedule_changes LIMIT ? FOR UPDATE SKIP LOCKED),
      taken AS (
        DELETE FROM kagzi.schedule_changes c USING locked l WHERE c.change_id = l.change_id
        RETURNING c.schedule_id, c.completed, c.failed),
      folded AS (
        INSERT INTO kagzi.schedule_counts AS c (schedule_id, completed, failed)
        SELECT t.schedule_id, sum(t.completed), sum(t.failed)
          FROM taken t
         WHERE EXISTS (SELECT 1 FROM kagzi.workflow_runs s WHERE s.run_id = t.schedule_id)
         GROUP BY t.schedule_id
         ORDER BY t.schedule_id
            ON CONFLICT (schedule_id) DO UPDATE
               SET completed = c.completed + excluded.completed,
                   failed = c.failed + excluded.failed)
      SELECT count(*) AS rows FROM taken
      """;

  private ScheduleCounts() {}

  /** Folds at most {@code max} changes; returns how many it folded. */
  public static int fold(Session session, int max) throws SQLException {
    return session.query(FOLD_SQL).bind(max).first(row -> row.integer("rows")).orElse(0);
  }
}
