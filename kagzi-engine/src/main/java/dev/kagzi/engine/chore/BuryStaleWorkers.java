package dev.kagzi.engine.chore;

import dev.kagzi.engine.worker.Workers;
import java.time.Duration;

/**
 * Takes workers out whose heartbeats have stopped. When this server itself could not reach the
 * database, the workers' heartbeats could not either: they get their full time again.
 */
public final class BuryStaleWorkers implements Chore {
  private static final long GAP_NANOS = Duration.ofSeconds(3).toNanos();

  private final Workers workers;
  private final long graceNanos;
  private long lastNanos = System.nanoTime();
  private long notBeforeNanos;

  public BuryStaleWorkers(Workers workers, Duration stale) {
    this.workers = workers;
    this.graceNanos = stale.toNanos();
    this.notBeforeNanos = lastNanos + graceNanos;
  }

  @Override
  public void run() {
    long now = System.nanoTime();
    if (now - lastNanos > GAP_NANOS) {
      notBeforeNanos = now + graceNanos;
    }
    if (now - notBeforeNanos >= 0) {
      workers.buryStale();
    }
    lastNanos = System.nanoTime();
  }
}
