package dev.kagzi.engine.schedule;

import java.time.Duration;

/**
 * Which slots are on time: those that are at most two seconds old when somebody begins to fire, and
 * all that are due while they are at it. Many that are due at once must not become late by being
 * many. Slots that are at most one coordinator interval old are due now: they become runs whatever
 * the limit on catching up is. The window stays open over ticks that fail or find schedules locked,
 * unless nothing was done for ten seconds. Seconds are since 1970, by the database's clock.
 * Thread-safe.
 */
final class OnTime {
  static final long SECONDS = 2;

  /** Whoever has done nothing for so long was away, and begins anew. */
  private static final long AWAY_SECONDS = 10;

  private final long dueNowSeconds;
  private long begun = FireTimes.NONE;
  private long last = FireTimes.NONE;

  OnTime(Duration interval) {
    this.dueNowSeconds = Math.max(SECONDS, interval.plusMillis(999).toSeconds());
  }

  /** Whatever comes next is a new beginning. */
  synchronized void begin() {
    begun = FireTimes.NONE;
  }

  /** The first second whose slots are on time for a batch of now. */
  long from(long now) {
    return begun(now) - SECONDS;
  }

  /** The first second whose slots are due now for a batch of now: those before it are missed. */
  long dueNowFrom(long now) {
    return begun(now) - dueNowSeconds;
  }

  /** Whether a slot of that second is due now for a batch of now, and not missed. */
  boolean isDueNow(long second, long now) {
    return second >= dueNowFrom(now);
  }

  private synchronized long begun(long now) {
    if (begun == FireTimes.NONE || now < begun || now - last > AWAY_SECONDS) {
      begun = now;
      last = now;
    }
    last = Math.max(last, now);
    return begun;
  }
}
