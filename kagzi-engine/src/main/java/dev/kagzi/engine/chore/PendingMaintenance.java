package dev.kagzi.engine.chore;

import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.List;

/** Maintenance that the servers have to do, until one of them has done it. */
final class PendingMaintenance {
  private static final String STEPS = "STEPS ";

  private PendingMaintenance() {}

  /** The run is gone, and its steps are to follow. */
  static String steps(RunId run) {
    return STEPS + run;
  }

  /** Runs of which steps are left. */
  static List<RunId> runsWithStepsLeft(Session session, int max) throws SQLException {
    return session
        .query("SELECT task FROM kagzi.maintenance_tasks WHERE starts_with(task, ?) LIMIT ?")
        .bind(STEPS)
        .bind(max)
        .list(row -> RunId.parse(row.text("task").substring(STEPS.length())).orElseThrow());
  }

  static void owe(Session tx, String task) throws SQLException {
    tx.query("INSERT INTO kagzi.maintenance_tasks (task) VALUES (?) ON CONFLICT DO NOTHING")
        .bind(task)
        .update();
  }

  /** Deletes the task once it is done. */
  static void take(Session tx, String task) throws SQLException {
    tx.query("DELETE FROM kagzi.maintenance_tasks WHERE task = ?").bind(task).update();
  }
}
