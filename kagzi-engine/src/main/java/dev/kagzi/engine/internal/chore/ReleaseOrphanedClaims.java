package dev.kagzi.engine.internal.chore;

import dev.kagzi.engine.internal.worker.Recovery;
import java.time.Duration;

/**
 * Releases orphaned claims, at its own interval instead of the coordinator's. Sends nothing while
 * no worker holds a run with a lease of its own.
 */
public final class ReleaseOrphanedClaims implements Chore {
  private final ServerHeartbeat heartbeat;
  private final Recovery recovery;
  private final long intervalNanos;
  private long lastNanos = System.nanoTime();

  public ReleaseOrphanedClaims(ServerHeartbeat heartbeat, Recovery recovery, Duration interval) {
    this.heartbeat = heartbeat;
    this.recovery = recovery;
    this.intervalNanos = interval.toNanos();
  }

  @Override
  public void run() {
    long now = System.nanoTime();
    if (heartbeat.pendingWork().ownLeases() && now - lastNanos >= intervalNanos) {
      lastNanos = now;
      recovery.releaseOrphaned();
    }
  }
}
