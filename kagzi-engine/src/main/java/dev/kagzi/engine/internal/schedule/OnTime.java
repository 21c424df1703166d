package dev.kagzi.engine.internal.schedule;

import java.time.Duration;

/**
 * Decides which slots are on time, and which are due now. A window begins when firing begins, and
 * the age of a slot is measured at that time, even if the slot is fired later. So a large number of
 * slots due at once does not make the last of them late.
 *
 * <ul>
 *   <li>On time: at most two seconds old, or due after the window began.
 *   <li>Due now: at most one coordinator interval old, or on time. {@code max_catchup} does not
 *       apply to these slots.
 * </ul>
 *
 * <p>The window ends when a round ({@link ScheduleFirer#fireDue}) leaves no slot that is due now,
 * or after ten seconds without a batch. So it continues after a round that fails or finds schedules
 * locked. Seconds are since 1970, by the database's clock. Thread-safe.
 */
final class OnTime {
  static final long SECONDS = 2;

  /** After a longer pause a new window begins. */
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

  long from(long now) {
    return begun(now) - SECONDS;
  }

  /** Returns the first second whose slots are due now, and not late, in a batch at {@code now}. */
  long dueNowFrom(long now) {
    return begun(now) - dueNowSeconds;
  }

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
