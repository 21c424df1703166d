package dev.kagzi.engine;

import dev.kagzi.engine.internal.db.Session;
import java.sql.SQLException;
import org.awaitility.Awaitility;
import org.jspecify.annotations.NullMarked;

/**
 * Holds statements inside PostgreSQL, after their snapshot was taken: they wait for an advisory
 * lock until the valve is closed. {@link #inClockOf}, or a trigger that calls {@link #WAIT}, makes
 * statements wait.
 */
@NullMarked
public final class Valve implements AutoCloseable {
  private static final long KEY = 4711;

  /** A statement in PL/pgSQL that waits. */
  public static final String WAIT = "PERFORM pg_advisory_xact_lock_shared(" + KEY + ");";

  private final Session session;
  private final Stored stored;

  public Valve(TestDatabase database) throws SQLException {
    stored = new Stored(database);
    session = database.open().open("valve");
    session.query("SELECT pg_advisory_lock(" + KEY + ")").execute();
  }

  /** Makes statements that contain this text wait when they read the clock. */
  public static void inClockOf(TestDatabase database, String sql) {
    database.execute(
        "CREATE OR REPLACE FUNCTION kagzi.clock() RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$"
            + " BEGIN IF current_query() LIKE '%"
            + sql
            + "%' THEN "
            + WAIT
            + " END IF; RETURN now(); END $$");
  }

  public void awaitSomebodyWaiting() {
    Awaitility.await().until(stored::somebodyWaitsForALock);
  }

  @Override
  public void close() {
    session.close();
  }
}
