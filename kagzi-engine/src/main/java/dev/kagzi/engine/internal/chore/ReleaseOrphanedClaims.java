package dev.kagzi.engine.internal.chore;

import dev.kagzi.engine.internal.worker.Recovery;
import java.time.Duration;

/** Releases orphaned claims, at its own interval instead of the coordinator's. */
public final class ReleaseOrphanedClaims implements Chore {
  private final Recovery recovery;
  private final long intervalNanos;
  private long lastNanos = System.nanoTime();

  public ReleaseOrphanedClaims(Recovery recovery, Duration interval) {
    this.recovery = recovery;
    this.intervalNanos = interval.toNanos();
  }

  @Override
  public void run() {
    long now = System.nanoTime();
    if (now - lastNanos >= intervalNanos) {
      lastNanos = now;
      recovery.releaseOrphaned();
    }
  }
}
