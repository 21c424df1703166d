package dev.kagzi.engine.dispatch;

import java.util.concurrent.atomic.LongAdder;

/** Counts how runs reached their workers. Thread-safe. */
public final class DispatchMetrics {
  final LongAdder handedOver = new LongAdder();
  final LongAdder claimed = new LongAdder();
  final LongAdder looks = new LongAdder();
  final LongAdder fallbackClaimed = new LongAdder();
  final LongAdder polls = new LongAdder();

  /** Runs that went from start to worker through memory. */
  public long handedOver() {
    return handedOver.sum();
  }

  /** Runs that were found by a look. */
  public long claimed() {
    return claimed.sum();
  }

  /** Looks that asked the database for runs. */
  public long looks() {
    return looks.sum();
  }

  /** Runs that only the slow fallback found: something should have told of them. */
  public long fallbackClaimed() {
    return fallbackClaimed.sum();
  }

  /** Polls that were answered, with or without work. */
  public long polls() {
    return polls.sum();
  }
}
