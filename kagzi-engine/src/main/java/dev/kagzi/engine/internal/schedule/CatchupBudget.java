package dev.kagzi.engine.internal.schedule;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Limits how many slots that are not on time become runs per interval. Thread-safe. */
final class CatchupBudget {
  private final int perInterval;
  private final long intervalNanos;
  private final AtomicLong fromNanos = new AtomicLong(System.nanoTime());
  private final AtomicInteger left;

  CatchupBudget(int perInterval, Duration interval) {
    this.perInterval = perInterval;
    this.intervalNanos = interval.toNanos();
    this.left = new AtomicInteger(perInterval);
  }

  /** Resets the budget when a new interval has begun. */
  void refill() {
    long now = System.nanoTime();
    long from = fromNanos.get();
    if (now - from >= intervalNanos && fromNanos.compareAndSet(from, now)) {
      left.set(perInterval);
    }
  }

  /** Takes up to {@code wanted}; returns how many. The caller gives back unused ones. */
  int take(int wanted) {
    int before = left.getAndUpdate(now -> now - Math.clamp(wanted, 0, Math.max(0, now)));
    return Math.clamp(wanted, 0, Math.max(0, before));
  }

  void giveBack(int unused) {
    left.addAndGet(unused);
  }

  boolean isSpent() {
    return left.get() <= 0;
  }
}
