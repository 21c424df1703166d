package dev.kagzi.engine;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.NullMarked;

/**
 * The clock of a test's database, moved instead of waited for. Timers of an engine are only
 * wake-ups: what a move makes due is found by the next look.
 */
@NullMarked
public final class TestClock {
  private final TestDatabase database;

  public TestClock(TestDatabase database) {
    this.database = database;
  }

  /** From now on the clock is so far ahead of the true time. */
  public void ahead(Duration by) {
    set("now() + interval '" + by.toMillis() + " milliseconds'");
  }

  /** From now on the clock stands still. */
  public void at(Instant time) {
    set("timestamptz '" + time + "'");
  }

  /** The true time again. */
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
