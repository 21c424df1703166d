package dev.kagzi.engine.internal.dispatch;

import java.time.Duration;

/**
 * When a queue must check for due runs below its low-water marks, also if it is never quiet. A
 * check can be slow: it reads the index entries of ended runs that an old snapshot keeps alive. So
 * the next one waits longer after a slow one. Guarded by its queue's lock.
 */
final class FallbackTimer {
  /** Checks take at most this part of the time of one claimer. */
  private static final int PART = 20;

  private final long intervalNanos;
  private long nextNanos;

  FallbackTimer(Duration interval) {
    this.intervalNanos = interval.toNanos();
    ended(System.nanoTime(), 0);
  }

  /** Whether a check must be made. Until it has ended, it counts as one that takes an interval. */
  boolean request(long nowNanos) {
    boolean isOverdue = nowNanos - nextNanos >= 0;
    if (isOverdue) {
      ended(nowNanos, intervalNanos);
    }
    return isOverdue;
  }

  void ended(long nowNanos, long tookNanos) {
    nextNanos = nowNanos + Math.max(intervalNanos, PART * tookNanos);
  }
}
