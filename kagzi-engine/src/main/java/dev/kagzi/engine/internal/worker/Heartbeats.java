package dev.kagzi.engine.internal.worker;

import dev.kagzi.engine.config.JournalConfig;
import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.journal.Journal;
import dev.kagzi.engine.internal.run.RenewLease;
import dev.kagzi.engine.internal.run.RunWrite;
import dev.kagzi.engine.metrics.JournalMetrics;
import dev.kagzi.engine.thread.EssentialThreads;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.value.WorkerStatus;
import dev.kagzi.engine.worker.HeartbeatResult;
import dev.kagzi.engine.worker.WorkerHeartbeat;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Stores heartbeats, in a journal of their own with one lane. Thread-safe. */
public final class Heartbeats implements HeartbeatWriter.Listener, AutoCloseable {
  private final long leaseMs;
  private final long intervalNanos;
  private final WorkerCache cache;
  private final Recovery recovery;
  private final Journal<RunWrite<?>> runWrites;
  private final Journal<HeartbeatWrite> journal;

  public Heartbeats(
      Database database,
      WorkerConfig config,
      WorkerCache cache,
      Recovery recovery,
      Journal<RunWrite<?>> runWrites,
      JournalMetrics metrics,
      EssentialThreads threads) {
    this.leaseMs = config.lease().toMillis();
    this.intervalNanos = config.heartbeat().toNanos();
    this.cache = cache;
    this.recovery = recovery;
    this.runWrites = runWrites;
    this.journal =
        new Journal<>(
            database,
            () -> new HeartbeatWriter(leaseMs, this),
            JournalConfig.defaults().withLanes(1),
            () -> 1,
            metrics,
            threads);
  }

  public CompletableFuture<HeartbeatResult> accept(WorkerHeartbeat h) {
    HeartbeatWrite write = new HeartbeatWrite(h);
    WorkerCache.Entry before = cache.get(h.workerId());
    long arrivedNanos = System.nanoTime();
    journal.append(write);
    return write
        .done()
        .thenApply(
            result -> {
              if (before != null && h.claims() != null) {
                // One interval, too: a heartbeat that is sent again has the list of its first send,
                // without the claims that were handed out before the first send was stored.
                recovery.releaseUnlisted(
                    h.workerId(),
                    h.claims(),
                    earlier(before.beatNanos(), arrivedNanos - intervalNanos));
              }
              return result;
            });
  }

  private static long earlier(long nanos, long other) {
    return nanos - other < 0 ? nanos : other;
  }

  @Override
  public void stored(Map<WorkerId, WorkerStatus> present) {
    cache.refresh(present);
  }

  @Override
  public void renewElsewhere(WorkerId worker, Claim claim) {
    runWrites.append(new RenewLease(worker, claim, leaseMs));
  }

  @Override
  public void close() {
    journal.close();
  }
}
