package dev.kagzi.engine.chore;

import dev.kagzi.engine.worker.Workers;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Marks workers offline whose heartbeats have stopped. After a gap in which this server could not
 * reach the database, workers get their full time again: their heartbeats could not be stored
 * either.
 */
public final class MarkStaleWorkersOffline implements Chore {
  private static final long GAP_NANOS = Duration.ofSeconds(3).toNanos();

  private final ServerHeartbeat heartbeat;
  private final Workers workers;
  private final long graceNanos;
  private long lastNanos = System.nanoTime();
  private long notBeforeNanos;

  public MarkStaleWorkersOffline(ServerHeartbeat heartbeat, Workers workers, Duration stale) {
    this.heartbeat = heartbeat;
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
    if (now - notBeforeNanos >= 0 && mayHaveStaleWorker(now)) {
      workers.markStaleOffline();
    }
    lastNanos = System.nanoTime();
  }

  /** The worker with the oldest heartbeat was the stalest when it was read, and still is. */
  private boolean mayHaveStaleWorker(long nowNanos) {
    ServerHeartbeat.Reading reading = heartbeat.lastReading();
    return reading.silentMs() != null
        && TimeUnit.MILLISECONDS.toNanos(reading.silentMs()) + (nowNanos - reading.atNanos())
            >= graceNanos;
  }
}
