package dev.kagzi.engine.chore;

import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.List;

/**
 * Rows of {@code maintenance_tasks}: work that some server must finish after its first transaction.
 */
final class PendingMaintenance {
  private static final String STEPS = "STEPS ";

  private PendingMaintenance() {}

  /** Task name: the run was deleted, its remaining steps must be deleted. */
  static String steps(RunId run) {
    return STEPS + run;
  }

  /** Returns deleted runs that still have steps. */
  static List<RunId> runsWithStepsLeft(Session session, int max) throws SQLException {
    return session
        .query("SELECT task FROM kagzi.maintenance_tasks WHERE starts_with(task, ?) LIMIT ?")
        .bind(STEPS)
        .bind(max)
        .list(row -> RunId.parse(row.text("task").substring(STEPS.length())).orElseThrow());
  }

  static void add(Session tx, String task) throws SQLException {
    tx.query("INSERT INTO kagzi.maintenance_tasks (task) VALUES (?) ON CONFLICT DO NOTHING")
        .bind(task)
        .update();
  }

  static void remove(Session tx, String task) throws SQLException {
    tx.query("DELETE FROM kagzi.maintenance_tasks WHERE task = ?").bind(task).update();
  }
}
