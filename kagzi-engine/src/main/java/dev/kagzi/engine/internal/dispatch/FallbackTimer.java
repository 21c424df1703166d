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

  private static final int IDLE_CHECKS = 5;

  private final long intervalNanos;
  private long nextNanos;
  private boolean isSlow;
  private int checksSinceClaim;

  FallbackTimer(Duration interval) {
    this.intervalNanos = interval.toNanos();
    waitAfter(System.nanoTime(), 0);
  }

  /** Whether a check must be made. Until it has ended, it counts as one that takes an interval. */
  boolean request(long nowNanos) {
    boolean isOverdue = nowNanos - nextNanos >= 0;
    if (isOverdue) {
      waitAfter(nowNanos, intervalNanos);
    }
    return isOverdue;
  }

  void ended(long nowNanos, long tookNanos, boolean succeeded) {
    waitAfter(nowNanos, tookNanos);
    checksSinceClaim = succeeded ? checksSinceClaim + 1 : 0;
  }

  private void waitAfter(long nowNanos, long tookNanos) {
    isSlow = PART * tookNanos > intervalNanos;
    nextNanos = nowNanos + Math.max(intervalNanos, PART * tookNanos);
  }

  void claimBegun() {
    checksSinceClaim = 0;
  }

  /**
   * Whether several checks have followed each other without a claim round in between. {@link
   * Dispatcher} then checks the queue together with the other idle ones. One whose check is slow or
   * fails would delay the others.
   */
  boolean isIdle() {
    return checksSinceClaim >= IDLE_CHECKS && !isSlow;
  }
}
