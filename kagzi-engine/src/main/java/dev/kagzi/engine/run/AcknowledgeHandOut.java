package dev.kagzi.engine.run;

import dev.kagzi.engine.db.Session;
import java.sql.SQLException;
import java.util.Collection;

/**
 * Records that a worker has received its task, because it has made a call about the run. Workers
 * that list their claims in heartbeats do not need this, so only calls of simple clients write it,
 * once per claim.
 */
public final class AcknowledgeHandOut {
  public static final String SQL =
      """
      UPDATE kagzi.workflow_runs r
         SET heard_epoch = n.epoch
        FROM unnest(?::uuid[], ?::int[]) AS n (run_id, epoch)
       WHERE r.run_id = n.run_id AND r.epoch = n.epoch
      """;

  private AcknowledgeHandOut() {}

  /** The runs must be locked. */
  public static void apply(Session tx, Collection<RunRow> rows) throws SQLException {
    tx.query(SQL).bindUuids(rows, r -> r.runId().value()).bindInts(rows, RunRow::epoch).update();
  }
}
