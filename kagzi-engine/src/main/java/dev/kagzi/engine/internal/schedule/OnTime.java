package dev.kagzi.engine.internal.schedule;

import java.time.Duration;

/**
 * Decides which slots are on time: those at most two seconds old when firing begins, and all that
 * become due while it continues. A large number of slots due at once must not make the last of them
 * late.
 *
 * <p>Slots at most one coordinator interval old are due now: they become runs regardless of the
 * catch-up limit. The window stays open over rounds ({@link ScheduleFirer#fireDue}) that fail or
 * find schedules locked, unless nothing was done for ten seconds. Seconds are since 1970, by the
 * database's clock. Thread-safe.
 */
final class OnTime {
  static final long SECONDS = 2;

  /** After a pause of this length a new window begins. */
  private static final long PAUSE_SECONDS_MAX = 10;

  private final long dueNowSeconds;
  private long begun = FireTimes.NONE;
  private long last = FireTimes.NONE;

  OnTime(Duration interval) {
    this.dueNowSeconds = Math.max(SECONDS, interval.plusMillis(999).toSeconds());
  }

  /** Begins a new window with the next batch. */
  synchronized void begin() {
    begun = FireTimes.NONE;
  }

  /** Returns the first second whose slots are on time in a batch at {@code now}. */
  long from(long now) {
    return begun(now) - SECONDS;
  }

  /**
   * Returns the first second whose slots are due now in a batch at {@code now}; earlier ones are
   * late.
   */
  long dueNowFrom(long now) {
    return begun(now) - dueNowSeconds;
  }

  /** Returns whether a slot of this second is due now, and not late, in a batch at {@code now}. */
  boolean isDueNow(long second, long now) {
    return second >= dueNowFrom(now);
  }

  private synchronized long begun(long now) {
    if (begun == FireTimes.NONE || now < begun || now - last > PAUSE_SECONDS_MAX) {
      begun = now;
      last = now;
    }
    last = Math.max(last, now);
    return begun;
  }
}
