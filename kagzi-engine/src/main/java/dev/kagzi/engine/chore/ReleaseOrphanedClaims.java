package dev.kagzi.engine.chore;

import dev.kagzi.engine.worker.Workers;
import java.time.Duration;

/** Frees claims of dead workers whose release was lost with the server that buried them. */
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
      workers.freeForgotten();
    }
  }
}
