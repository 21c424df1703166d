package dev.kagzi.engine.internal.worker;

import dev.kagzi.engine.config.JournalConfig;
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
  private final WorkerCache cache;
  private final Recovery recovery;
  private final Journal<RunWrite<?>> runWrites;
  private final Journal<HeartbeatWrite> journal;

  public Heartbeats(
      Database database,
      long leaseMs,
      WorkerCache cache,
      Recovery recovery,
      Journal<RunWrite<?>> runWrites,
      JournalMetrics metrics,
      EssentialThreads threads) {
    this.leaseMs = leaseMs;
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
    journal.append(write);
    return write
        .done()
        .thenApply(
            result -> {
              if (before != null && h.claims() != null) {
                recovery.releaseUnlisted(h.workerId(), h.claims(), before.beatNanos());
              }
              return result;
            });
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
