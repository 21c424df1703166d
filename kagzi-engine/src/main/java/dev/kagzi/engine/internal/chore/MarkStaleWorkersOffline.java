package dev.kagzi.engine.internal.chore;

import dev.kagzi.engine.internal.worker.Recovery;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Marks workers whose heartbeats have stopped as offline. At its start, and after some seconds in
 * which it could not run, for example because the database was unavailable, workers get their full
 * time again: their heartbeats may not have been stored in between.
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
      recovery.releaseStale();
    }
    lastNanos = System.nanoTime();
  }

  /**
   * Returns whether the oldest heartbeat that was read last is too old now. The worker may have
   * sent another one since; {@link Recovery#releaseStale} checks that in the database.
   */
  private boolean mayHaveStaleWorker(long nowNanos) {
    ServerHeartbeat.PendingWork pending = heartbeat.pendingWork();
    return pending.silentMs() != null
        && TimeUnit.MILLISECONDS.toNanos(pending.silentMs()) + (nowNanos - pending.atNanos())
            >= graceNanos;
  }
}
