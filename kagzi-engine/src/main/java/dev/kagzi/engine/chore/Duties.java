package dev.kagzi.engine.chore;

import dev.kagzi.engine.db.Session;
import java.sql.SQLException;

/** What the servers owe together, until one of them has done it. */
final class Duties {
  /** The runs are to be counted anew. */
  static final String RECOUNT = "RECOUNT";

  private Duties() {}

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
