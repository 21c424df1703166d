package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.internal.db.Generation;
import dev.kagzi.engine.internal.db.Session;
import java.sql.SQLException;

/**
 * Takes the claims of all workers when a {@link Generation} begins. The workers may have executed
 * more than the database still has recorded: a worker that continued would record a step without
 * the lost ones before it, or wait for a lost child.
 */
public final class RevokeClaims {
  /**
   * No other session can claim or change these runs before the transaction ends. Late reports of
   * the former holders are refused. So is a late end that a simple client reports, because {@code
   * taken_from} is null.
   */
  static final String SQL =
      """
      WITH u AS (
        UPDATE kagzi.workflow_runs w
           SET status = 'PENDING', available_at = t.now, locked_by = NULL, blocked_by = NULL,
               taken_from = NULL, taken_epoch = w.epoch,
               lost_epoch = coalesce(w.lost_epoch, w.epoch)
          FROM (SELECT kagzi.clock() AS now) AS t
         WHERE w.status = 'RUNNING' AND w.available_at IS NOT NULL AND w.cron_expr IS NULL
        RETURNING w.namespace, w.task_queue, w.workflow_type, w.version),
      n AS (
        INSERT INTO kagzi.run_changes
               (namespace, task_queue, workflow_type, version, from_status, to_status, runs)
        SELECT namespace, task_queue, workflow_type, version, 'RUNNING', 'PENDING', count(*)
          FROM u
         GROUP BY namespace, task_queue, workflow_type, version)
      SELECT count(*) AS runs FROM u
      """;

  private RevokeClaims() {}

  /** Returns how many claims were taken. */
  public static long revokeAll(Session tx) throws SQLException {
    return tx.query(SQL).first(row -> row.bigint("runs")).orElse(0L);
  }
}
