package dev.kagzi.engine.chore;

import dev.kagzi.engine.worker.Workers;
import java.time.Duration;

/**
 * Releases claims of offline workers, in case the server that marked them offline died before it
 * released the claims.
 */
public final class ReleaseOrphanedClaims implements Chore {
  private final Workers workers;
  private final long everyNanos;
  private long lastNanos = System.nanoTime();

  public ReleaseOrphanedClaims(Workers workers, Duration every) {
    this.workers = workers;
    this.everyNanos = every.toNanos();
  }

  @Override
  public void run() {
    long now = System.nanoTime();
    if (now - lastNanos >= everyNanos) {
      lastNanos = now;
      workers.releaseOrphanedClaims();
    }
  }
}
