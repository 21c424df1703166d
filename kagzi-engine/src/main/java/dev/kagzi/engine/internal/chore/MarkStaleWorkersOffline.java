package dev.kagzi.engine.internal.chore;

import dev.kagzi.engine.internal.worker.Recovery;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Marks workers whose heartbeats have stopped as offline. After a gap in which this server could
 * not reach the database, workers get their full time again: their heartbeats could not be stored
 * either.
 */
public final class MarkStaleWorkersOffline implements Chore {
  private static final long GAP_NANOS = Duration.ofSeconds(3).toNanos();

  private final ServerHeartbeat heartbeat;
  private final Recovery recovery;
  private final long graceNanos;
  private long lastNanos = System.nanoTime();
  private long notBeforeNanos;

  public MarkStaleWorkersOffline(ServerHeartbeat heartbeat, Recovery recovery, Duration stale) {
    this.heartbeat = heartbeat;
    this.recovery = recovery;
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
      recovery.releaseSilent();
    }
    lastNanos = System.nanoTime();
  }

  /** The worker with the oldest heartbeat was the stalest when it was read, and still is. */
  private boolean mayHaveStaleWorker(long nowNanos) {
    ServerHeartbeat.PendingWork pending = heartbeat.pendingWork();
    return pending.silentMs() != null
        && TimeUnit.MILLISECONDS.toNanos(pending.silentMs()) + (nowNanos - pending.atNanos())
            >= graceNanos;
  }
}
