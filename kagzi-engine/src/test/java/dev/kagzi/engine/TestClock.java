package dev.kagzi.engine;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.NullMarked;

/**
 * Moves the clock of a test's database, so that tests need not wait. An engine's timers use real
 * time: only its next query finds the work that became due by the move.
 */
@NullMarked
public final class TestClock {
  private final TestDatabase database;

  public TestClock(TestDatabase database) {
    this.database = database;
  }

  /** Sets the clock ahead of the real time. */
  public void ahead(Duration by) {
    set("now() + interval '" + by.toMillis() + " milliseconds'");
  }

  /** Stops the clock at this time. */
  public void at(Instant time) {
    set("timestamptz '" + time + "'");
  }

  /** Resets the clock to the real time. */
  public void reset() {
    set("now()");
  }

  private void set(String expression) {
    database.execute(
        "CREATE OR REPLACE FUNCTION kagzi.clock() RETURNS timestamptz LANGUAGE sql STABLE AS $$"
            + "SELECT "
            + expression
            + "$$");
  }
}
