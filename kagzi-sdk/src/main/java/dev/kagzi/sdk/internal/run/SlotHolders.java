package dev.kagzi.sdk.internal.run;

import java.util.concurrent.atomic.AtomicInteger;

/** Counts what occupies a run's slot: threads with its code, and its last report. Thread-safe. */
final class SlotHolders {
  private final AtomicInteger left = new AtomicInteger(2);
  private final Runnable onFree;

  SlotHolders(Runnable onFree) {
    this.onFree = onFree;
  }

  void began() {
    left.incrementAndGet();
  }

  void ended() {
    if (left.decrementAndGet() == 0) {
      onFree.run();
    }
  }
}
