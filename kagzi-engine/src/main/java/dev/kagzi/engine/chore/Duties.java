package dev.kagzi.engine.chore;

import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.List;

/** What the servers owe together, until one of them has done it. */
final class Duties {
  /** The runs are to be counted anew. */
  static final String RECOUNT = "RECOUNT";

  private static final String STEPS = "STEPS ";

  private Duties() {}

  /** The run is gone, and its steps are to follow. */
  static String steps(RunId run) {
    return STEPS + run;
  }

  /** Runs of which steps are left. */
  static List<RunId> runsWithStepsLeft(Session session, int max) throws SQLException {
    return session
        .query("SELECT duty FROM kagzi.duties WHERE starts_with(duty, ?) LIMIT ?")
        .bind(STEPS)
        .bind(max)
        .list(row -> RunId.parse(row.text("duty").substring(STEPS.length())).orElseThrow());
  }

  static boolean owe(Session tx, String duty) throws SQLException {
    return tx.query("INSERT INTO kagzi.duties (duty) VALUES (?) ON CONFLICT DO NOTHING")
            .bind(duty)
            .update()
        == 1;
  }

  /** True for whoever is to do it now; waits for another who has just begun. */
  static boolean take(Session tx, String duty) throws SQLException {
    return tx.query("DELETE FROM kagzi.duties WHERE duty = ?").bind(duty).update() == 1;
  }
}
