package dev.kagzi.engine.schedule;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** How many missed slots may still become runs in this interval. Thread-safe. */
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

  /** Begins anew with each interval. */
  void refill() {
    long now = System.nanoTime();
    long from = fromNanos.get();
    if (now - from >= intervalNanos && fromNanos.compareAndSet(from, now)) {
      left.set(perInterval);
    }
  }

  /** Answers how many are granted, so many at most; what is not used is given back. */
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
