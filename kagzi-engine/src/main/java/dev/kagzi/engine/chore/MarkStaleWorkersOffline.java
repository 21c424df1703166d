package dev.kagzi.engine.chore;

import dev.kagzi.engine.worker.Workers;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Takes workers out whose heartbeats have stopped. When this server itself could not reach the
 * database, the workers' heartbeats could not either: they get their full time again.
 */
public final class MarkStaleWorkersOffline implements Chore {
  private static final long GAP_NANOS = Duration.ofSeconds(3).toNanos();

  private final ServerHeartbeat pulse;
  private final Workers workers;
  private final long graceNanos;
  private long lastNanos = System.nanoTime();
  private long notBeforeNanos;

  public MarkStaleWorkersOffline(ServerHeartbeat pulse, Workers workers, Duration stale) {
    this.pulse = pulse;
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
    if (now - notBeforeNanos >= 0 && somebodyMayBeStale(now)) {
      workers.buryStale();
    }
    lastNanos = System.nanoTime();
  }

  /** The most silent worker has been silent for longer than all others, then and now. */
  private boolean somebodyMayBeStale(long nowNanos) {
    ServerHeartbeat.Reading reading = pulse.last();
    return reading.silentMs() != null
        && TimeUnit.MILLISECONDS.toNanos(reading.silentMs()) + (nowNanos - reading.atNanos())
            >= graceNanos;
  }
}
