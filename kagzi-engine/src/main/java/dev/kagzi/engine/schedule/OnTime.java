package dev.kagzi.engine.schedule;

/**
 * Which slots are on time: those that are at most two seconds old when somebody begins to fire, and
 * all that are due while they are at it. Many that are due at once must not become late by being
 * many. Seconds are since 1970, by the database's clock. Thread-safe.
 */
final class OnTime {
  static final long SECONDS = 2;

  /** Whoever has done nothing for so long was away, and begins anew. */
  private static final long AWAY_SECONDS = 10;

  private long begun = Slots.NONE;
  private long last = Slots.NONE;

  /** Whatever comes next is a new beginning. */
  synchronized void begin() {
    begun = Slots.NONE;
  }

  /** The first second whose slots are on time for a batch of now. */
  synchronized long from(long now) {
    if (begun == Slots.NONE || now < begun || now - last > AWAY_SECONDS) {
      begun = now;
      last = now;
    }
    last = Math.max(last, now);
    return begun - SECONDS;
  }
}
