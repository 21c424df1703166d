package dev.kagzi.sdk.internal.otel;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Limits how many traces begin per second: a token bucket that holds the tokens of one second and
 * is full at first. Thread-safe; takes no lock and allocates nothing.
 */
final class TraceLimit {
  private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final int perSecondMax;
  private final long tokenNanos;
  private final LongSupplier nanoClock;

  /** Until when the bucket's refill is spent: one second ago if it is full, now if it is empty. */
  private final AtomicLong spentUntilNanos;

  /**
   * @param perSecondMax 0 for no trace; more than a billion is no limit
   */
  TraceLimit(int perSecondMax, LongSupplier nanoClock) {
    this.perSecondMax = perSecondMax;
    this.tokenNanos = perSecondMax == 0 ? 0 : SECOND_NANOS / perSecondMax;
    this.nanoClock = nanoClock;
    this.spentUntilNanos = new AtomicLong(nanoClock.getAsLong() - SECOND_NANOS);
  }

  int perSecondMax() {
    return perSecondMax;
  }

  /** Takes a token; returns false if there is none. */
  boolean tryTake() {
    if (perSecondMax == 0) {
      return false;
    }
    long now = nanoClock.getAsLong();
    while (true) {
      long spentUntil = spentUntilNanos.get();
      // Relative to now, because the values of the clock may overflow.
      long next = Math.max(spentUntil - now, -SECOND_NANOS) + tokenNanos;
      if (next > 0) {
        return false;
      }
      if (spentUntilNanos.compareAndSet(spentUntil, now + next)) {
        return true;
      }
    }
  }

  /** Returns a token that was taken for a trace that did not begin. */
  void giveBack() {
    spentUntilNanos.addAndGet(-tokenNanos);
  }
}
