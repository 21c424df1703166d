package dev.kagzi.engine.internal.worker;

import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.dispatch.WorkerLimits;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.value.WorkerStatus;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The workers that called this server recently. Thread-safe. */
public final class WorkerCache {
  private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final Database database;
  private final Executor blocking;
  private final Map<WorkerId, Entry> entries = new ConcurrentHashMap<>();

  /**
   * A cached worker.
   *
   * @param atNanos when the entry was read or refreshed
   * @param beatNanos when this server last stored a heartbeat of the worker; before the first one,
   *     when it first saw the worker
   */
  record Entry(
      QueueName queue,
      WorkerStatus status,
      WorkerLimits limits,
      boolean isSimple,
      long atNanos,
      long beatNanos) {}

  public WorkerCache(Database database, Executor blocking) {
    this.database = database;
    this.blocking = blocking;
  }

  @Nullable Entry get(WorkerId worker) {
    return entries.get(worker);
  }

  /** Whether the worker may belong to the namespace: false if it is known to be in another one. */
  public boolean mayBeIn(WorkerId worker, @Nullable String namespace) {
    Entry entry = entries.get(worker);
    return namespace == null || entry == null || entry.queue.namespace().equals(namespace);
  }

  public void remove(WorkerId worker) {
    entries.remove(worker);
  }

  public Entry put(WorkerRows.Known row) {
    long now = System.nanoTime();
    Entry before = entries.get(row.id());
    Entry found =
        new Entry(
            row.queue(),
            row.status(),
            row.limits(),
            row.isSimple(),
            now,
            before == null ? now : before.beatNanos);
    if (row.status() != WorkerStatus.OFFLINE) {
      entries.put(row.id(), found);
    }
    return found;
  }

  /** Heartbeats of these workers were stored. */
  void refresh(Map<WorkerId, WorkerStatus> present) {
    long now = System.nanoTime();
    present.forEach(
        (worker, status) ->
            entries.computeIfPresent(
                worker,
                (id, old) -> new Entry(old.queue, status, old.limits, old.isSimple, now, now)));
  }

  public void drains(WorkerId worker) {
    entries.computeIfPresent(
        worker,
        (id, old) ->
            new Entry(
                old.queue,
                WorkerStatus.DRAINING,
                old.limits,
                old.isSimple,
                old.atNanos,
                old.beatNanos));
  }

  /** Evicts workers that no longer call this server; returns how many entries are left. */
  public int evictNotSeenFor(long nanos) {
    long now = System.nanoTime();
    entries.values().removeIf(worker -> now - worker.atNanos > nanos);
    return entries.size();
  }

  /**
   * Returns whether the worker belongs to the namespace; true if {@code namespace} is null. A
   * worker never changes its namespace, so a cached entry is always right. Blocks if the worker is
   * not cached.
   */
  public boolean isIn(@Nullable String namespace, WorkerId worker) {
    if (namespace == null) {
      return true;
    }
    Entry known = entries.get(worker);
    QueueName queue =
        known != null
            ? known.queue
            : database
                .read(session -> WorkerRows.find(session, worker))
                .map(WorkerRows.Known::queue)
                .orElse(null);
    return queue != null && queue.namespace().equals(namespace);
  }

  /** See {@link dev.kagzi.engine.dispatch.Tasks.Presence#require}. */
  public CompletableFuture<WorkerLimits> require(WorkerId worker, QueueName queue, boolean simple) {
    Entry known = entries.get(worker);
    boolean mark = simple && (known == null || !known.isSimple);
    if (known != null && !mark && System.nanoTime() - known.atNanos < FRESH_NANOS) {
      return admit(worker, queue, known);
    }
    return CompletableFuture.supplyAsync(
            () ->
                (mark
                        ? database.write(tx -> WorkerRows.markSimple(tx, worker))
                        : database.read(session -> WorkerRows.find(session, worker)))
                    .map(this::put)
                    .orElse(new Entry(queue, WorkerStatus.OFFLINE, WorkerLimits.NONE, false, 0, 0)),
            blocking)
        .thenCompose(found -> admit(worker, queue, found));
  }

  private static CompletableFuture<WorkerLimits> admit(
      WorkerId worker, QueueName queue, Entry known) {
    // Do not reveal workers of other namespaces: report them like unknown ones.
    boolean foreign = !known.queue.namespace().equals(queue.namespace());
    if (foreign || known.status != WorkerStatus.ONLINE) {
      boolean draining = known.status == WorkerStatus.DRAINING && !foreign;
      return CompletableFuture.failedFuture(
          Refusal.of(
              Refusal.Code.WORKER_OFFLINE,
              "worker",
              worker.toString(),
              "worker %s is %s (expected: ONLINE; register first)"
                  .formatted(worker, draining ? "draining" : "not registered or offline")));
    }
    if (!known.queue.equals(queue)) {
      return CompletableFuture.failedFuture(
          Refusal.invalid(
              "task_queue",
              queue.namespace() + "/" + queue.queue(),
              "%s/%s, which the worker registered"
                  .formatted(known.queue.namespace(), known.queue.queue())));
    }
    return CompletableFuture.completedFuture(known.limits);
  }
}
