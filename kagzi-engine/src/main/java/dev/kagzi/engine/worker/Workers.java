package dev.kagzi.engine.worker;

import dev.kagzi.engine.db.Database;
import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.dispatch.Dispatcher;
import dev.kagzi.engine.dispatch.HeldRuns;
import dev.kagzi.engine.dispatch.WorkerLimits;
import dev.kagzi.engine.journal.Journal;
import dev.kagzi.engine.journal.JournalConfig;
import dev.kagzi.engine.namespace.Namespaces;
import dev.kagzi.engine.notification.Notifier;
import dev.kagzi.engine.notification.ServerMessage;
import dev.kagzi.engine.request.IdempotentCall;
import dev.kagzi.engine.request.IdempotentCalls;
import dev.kagzi.engine.run.FailureHandler;
import dev.kagzi.engine.run.ReleaseClaim;
import dev.kagzi.engine.run.RenewLease;
import dev.kagzi.engine.thread.EssentialThreads;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.value.WorkerStatus;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Registers workers, stores their heartbeats and releases the claims of dead ones. Thread-safe. */
public final class Workers implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Workers.class);
  private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final long EVICT_NANOS = TimeUnit.MINUTES.toNanos(10);
  private static final int STALE_MAX = 100;
  private static final int ORPHANED_MAX = 500;

  private final Database database;
  private final WorkerConfig config;
  private final Limits limits;
  private final Namespaces namespaces;
  private final Dispatcher dispatcher;
  private final Notifier notifier;
  private final BiConsumer<List<Claim>, ReleaseClaim.Cause> release;
  private final Consumer<RenewLease> renew;
  private final Journal<HeartbeatWrite> heartbeats;
  private final Executor blocking = Executors.newVirtualThreadPerTaskExecutor();
  private final ScheduledExecutorService timer;
  private final Map<WorkerId, CachedWorker> cachedWorkers = new ConcurrentHashMap<>();
  private final Map<WorkerId, Attached> attached = new ConcurrentHashMap<>();

  /**
   * A cached worker.
   *
   * @param atNanos when the entry was read or refreshed
   * @param beatNanos when the last heartbeat was stored by this server, or the worker was first
   *     seen
   */
  private record CachedWorker(
      QueueName queue, WorkerStatus status, WorkerLimits limits, long atNanos, long beatNanos) {}

  private record Attached(UUID attachId, AttachListener listener) {}

  public Workers(
      Database database,
      WorkerConfig config,
      Limits limits,
      Namespaces namespaces,
      Dispatcher dispatcher,
      Notifier notifier,
      BiConsumer<List<Claim>, ReleaseClaim.Cause> release,
      Consumer<RenewLease> renew,
      EssentialThreads threads) {
    this.database = database;
    this.config = config;
    this.limits = limits;
    this.namespaces = namespaces;
    this.dispatcher = dispatcher;
    this.notifier = notifier;
    this.release = release;
    this.renew = renew;
    this.timer = threads.timer("kagzi-attach");
    JournalConfig bounds = JournalConfig.defaults();
    this.heartbeats =
        new Journal<>(
            database,
            () -> new HeartbeatWriter(config.lease().toMillis(), new HeartbeatListener()),
            new JournalConfig(
                1,
                bounds.queueBytesMax(),
                bounds.batchBytesMax(),
                bounds.batchWritesMax(),
                bounds.fullPatience(),
                bounds.databasePatience()),
            threads);
  }

  public int heartbeatIntervalSecs() {
    return (int) Math.max(1, config.heartbeat().toSeconds());
  }

  /** Registers without a request id. */
  public CompletableFuture<WorkerId> register(WorkerRegistration r) {
    return register(r, null);
  }

  private record Registered(WorkerId id, WorkerStatus status, List<WorkerRows.Known> replaced) {}

  /**
   * Registers a worker. Every registration creates a new worker; a repeat with the same request id
   * returns the first one.
   *
   * @param requestId chosen by the worker, which can then safely repeat the call; null for none
   */
  public CompletableFuture<WorkerId> register(WorkerRegistration r, @Nullable UUID requestId) {
    check(r);
    return async(
        () -> {
          namespaces.check(r.queue().namespace());
          IdempotentCall call =
              IdempotentCall.of(requestId, "Register", r.queue().namespace(), r.queue().queue());
          Registered registered =
              IdempotentCalls.once(
                  database,
                  call,
                  tx -> insert(tx, r),
                  made -> made.id.toString(),
                  (tx, stored) -> registeredBefore(tx, r, call, stored));
          WorkerId id = registered.id;
          registered.replaced.forEach(worker -> evict(worker.id()));
          long now = System.nanoTime();
          WorkerLimits workerLimits = new WorkerLimits(r.concurrencyLimit(), r.typeLimits());
          cachedWorkers.put(
              id, new CachedWorker(r.queue(), registered.status, workerLimits, now, now));
          log.atInfo()
              .addKeyValue("worker", id)
              .addKeyValue("queue", r.queue().queue())
              .addKeyValue("host", r.hostname())
              .log("worker registered");
          return id;
        });
  }

  private static Registered insert(Session tx, WorkerRegistration r) throws SQLException {
    WorkerId id = WorkerId.next();
    List<WorkerRows.Known> before = WorkerRows.replace(tx, r);
    WorkerRows.insert(tx, id, r);
    if (r.served().stream().anyMatch(t -> t.type().equals(FailureHandler.TYPE))) {
      Namespaces.markFailureHandler(tx, r.queue().namespace(), r.queue().queue());
    }
    WorkerRows.event(tx, ids(before), "OFFLINE", "registered again");
    WorkerRows.event(tx, List.of(id), "ONLINE", "registered");
    return new Registered(id, WorkerStatus.ONLINE, before);
  }

  /** Registers again if the first registration has gone offline since. */
  private static Registered registeredBefore(
      Session tx, WorkerRegistration r, IdempotentCall call, String stored) throws SQLException {
    WorkerId id = WorkerId.parse(stored).orElseThrow();
    Optional<WorkerRows.Known> present =
        WorkerRows.find(tx, id).filter(row -> row.status() != WorkerStatus.OFFLINE);
    if (present.isPresent()) {
      return new Registered(id, present.get().status(), List.of());
    }
    Registered second = insert(tx, r);
    IdempotentCalls.leave(tx, call, second.id.toString());
    return second;
  }

  private void check(WorkerRegistration r) {
    limits.checkName("namespace", r.queue().namespace());
    limits.checkName("task_queue", r.queue().queue());
    if (r.served().isEmpty()) {
      throw Refusal.invalid("workflow_types", "none", "at least one");
    }
    r.served()
        .forEach(
            type -> {
              limits.checkName("workflow_types", type.type());
              limits.checkOptionalName("version", type.version());
            });
    limits.checkOptionalName("hostname", r.hostname());
    limits.checkOptionalName("version", r.version());
    limits.checkOptionalName("instance_id", r.instanceId());
    limits.checkLabels("labels", r.labels());
    if (r.concurrencyLimit() != null && r.concurrencyLimit() < 1) {
      throw Refusal.invalid("queue_concurrency_limit", r.concurrencyLimit(), "at least 1");
    }
    r.typeLimits()
        .forEach(
            (type, max) -> {
              limits.checkName("workflow_type_concurrency", type);
              if (max < 1) {
                throw Refusal.invalid("workflow_type_concurrency." + type, max, "at least 1");
              }
            });
  }

  /** Stores the heartbeat, renews the listed claims and releases the unlisted ones. */
  public CompletableFuture<HeartbeatResult> heartbeat(WorkerHeartbeat h) {
    HeartbeatWrite write = new HeartbeatWrite(h);
    CachedWorker before = cachedWorkers.get(h.workerId());
    heartbeats.append(write);
    return write
        .done()
        .thenApply(
            result -> {
              if (before != null && h.claims() != null) {
                releaseUnlisted(h, before.beatNanos);
              }
              return result;
            })
        .whenComplete(
            (result, refusal) -> {
              // Another server marked the worker offline: claim nothing more for it here.
              if (refusal != null && asRefusal(refusal).reason() == Refusal.Reason.NOT_FOUND) {
                evict(h.workerId());
              }
            });
  }

  /**
   * Releases claims that the worker does not list, but only those that it had before its previous
   * heartbeat. A younger claim may still be in transit to the worker.
   */
  private void releaseUnlisted(WorkerHeartbeat h, long previousBeatNanos) {
    List<Claim> claims = h.claims() == null ? List.of() : h.claims();
    List<Claim> dropped = dispatcher.registry().unlisted(h.workerId(), claims, previousBeatNanos);
    if (!dropped.isEmpty()) {
      log.atWarn()
          .addKeyValue("worker", h.workerId())
          .addKeyValue("claims", dropped.size())
          .log("worker dropped claims, they are free again");
      // Remove the entries even if the release fails: a wrong entry must not be released again.
      dropped.forEach(dispatcher.registry()::remove);
      release.accept(dropped, ReleaseClaim.Cause.NOT_TAKEN);
    }
  }

  private final class HeartbeatListener implements HeartbeatWriter.Listener {
    @Override
    public void stored(Map<WorkerId, WorkerStatus> present) {
      cache(present);
    }

    @Override
    public void renewElsewhere(WorkerId worker, Claim claim) {
      renew.accept(new RenewLease(worker, claim, config.lease().toMillis()));
    }
  }

  private void cache(Map<WorkerId, WorkerStatus> present) {
    long now = System.nanoTime();
    present.forEach(
        (worker, status) ->
            cachedWorkers.computeIfPresent(
                worker, (id, old) -> new CachedWorker(old.queue, status, old.limits, now, now)));
  }

  /** See {@link dev.kagzi.engine.dispatch.Tasks.Presence#require}. */
  public CompletableFuture<WorkerLimits> require(WorkerId worker, QueueName queue) {
    CachedWorker known = cachedWorkers.get(worker);
    if (known != null && System.nanoTime() - known.atNanos < FRESH_NANOS) {
      return admit(worker, queue, known);
    }
    return async(
            () -> {
              return database
                  .read(session -> WorkerRows.find(session, worker))
                  .map(this::cache)
                  .orElse(new CachedWorker(queue, WorkerStatus.OFFLINE, WorkerLimits.NONE, 0, 0));
            })
        .thenCompose(found -> admit(worker, queue, found));
  }

  private CachedWorker cache(WorkerRows.Known row) {
    long now = System.nanoTime();
    CachedWorker before = cachedWorkers.get(row.id());
    CachedWorker found =
        new CachedWorker(
            row.queue(), row.status(), row.limits(), now, before == null ? now : before.beatNanos);
    if (row.status() != WorkerStatus.OFFLINE) {
      cachedWorkers.put(row.id(), found);
    }
    return found;
  }

  private static CompletableFuture<WorkerLimits> admit(
      WorkerId worker, QueueName queue, CachedWorker known) {
    // Do not reveal workers of other namespaces: report them like unknown ones.
    boolean foreign = !known.queue.namespace().equals(queue.namespace());
    if (foreign || known.status != WorkerStatus.ONLINE) {
      return CompletableFuture.failedFuture(
          Refusal.of(
              Refusal.Code.WORKER_OFFLINE,
              "worker",
              worker.toString(),
              "worker "
                  + worker
                  + " is "
                  + (known.status == WorkerStatus.DRAINING && !foreign
                      ? "draining"
                      : "not registered or offline")
                  + " (expected: ONLINE; register first)"));
    }
    if (!known.queue.equals(queue)) {
      return CompletableFuture.failedFuture(
          Refusal.invalid(
              "task_queue",
              queue.namespace() + "/" + queue.queue(),
              known.queue.namespace()
                  + "/"
                  + known.queue.queue()
                  + ", which the worker registered"));
    }
    return CompletableFuture.completedFuture(known.limits);
  }

  /**
   * Deregisters a worker: at once, or after it has finished its runs. Returns true if no run is
   * left with it. Without drain its runs are released, so none is left. Returns false for an
   * unknown worker.
   *
   * @param namespace the namespace that the worker must belong to; null for any
   */
  public CompletableFuture<Boolean> deregister(
      @Nullable String namespace, WorkerId worker, boolean drain) {
    limits.checkOptionalName("namespace", namespace);
    return async(
        () -> {
          if (!isIn(namespace, worker)) {
            return false;
          }
          dispatcher.workerLeaves(worker);
          if (drain) {
            drainNow(worker, "asked to by the worker");
            return find(worker).map(this::held).filter(List::isEmpty).isPresent();
          }
          Optional<WorkerRows.Known> gone =
              IdempotentCalls.once(
                  database,
                  IdempotentCall.of(null, "Deregister", worker),
                  tx -> {
                    Optional<WorkerRows.Known> row = WorkerRows.offline(tx, worker, false);
                    WorkerRows.event(tx, row, "OFFLINE", "deregistered");
                    return row;
                  },
                  row -> "",
                  (tx, stored) -> WorkerRows.find(tx, worker));
          evict(worker);
          if (gone.isPresent()) {
            releaseAll(gone.get(), ReleaseClaim.Cause.WORKER_LEFT);
            log.atInfo().addKeyValue("worker", worker).log("worker deregistered");
          }
          // A repeated call finds the worker offline already.
          return gone.isPresent() || find(worker).isPresent();
        });
  }

  private Optional<WorkerRows.Known> find(WorkerId worker) {
    return database.read(session -> WorkerRows.find(session, worker));
  }

  /**
   * Sets a worker to DRAINING on behalf of an administrator. Returns false if it is already
   * offline.
   *
   * @param namespace the namespace that the worker must belong to; null for any
   */
  public CompletableFuture<Boolean> drain(@Nullable String namespace, WorkerId worker) {
    limits.checkOptionalName("namespace", namespace);
    return async(
        () -> {
          if (!isIn(namespace, worker)) {
            throw Refusal.notFound("worker", worker);
          }
          if (drainNow(worker, "asked to by an administrator")) {
            publishDrain(worker);
            return true;
          }
          if (database.read(session -> WorkerRows.find(session, worker)).isEmpty()) {
            throw Refusal.notFound("worker", worker);
          }
          return false;
        });
  }

  /**
   * Marks a worker offline on behalf of an administrator and releases its claims. Returns the
   * number of its runs.
   *
   * @param namespace the namespace that the worker must belong to; null for any
   */
  public CompletableFuture<Integer> forceOffline(
      @Nullable String namespace, WorkerId worker, String reason) {
    return forceOffline(namespace, worker, reason, null);
  }

  /** Does the same; a repeat with the same request id is executed once. */
  public CompletableFuture<Integer> forceOffline(
      @Nullable String namespace, WorkerId worker, String reason, @Nullable UUID requestId) {
    limits.checkOptionalName("namespace", namespace);
    limits.checkText("reason", reason);
    return async(
        () -> {
          if (!isIn(namespace, worker)) {
            throw Refusal.notFound("worker", worker);
          }
          Forced forced =
              IdempotentCalls.once(
                  database,
                  IdempotentCall.of(requestId, "ForceOfflineWorker", worker),
                  tx -> takeOffline(tx, worker, reason),
                  done -> Integer.toString(done.heldRuns),
                  (tx, held) ->
                      new Forced(
                          WorkerRows.find(tx, worker)
                              .orElseThrow(() -> Refusal.notFound("worker", worker)),
                          Integer.parseInt(held)));
          // Also for a repeated call: the first server may have died before it released the claims.
          onOffline(forced.worker, "worker was forced offline, claims released");
          return forced.heldRuns;
        });
  }

  private record Forced(WorkerRows.Known worker, int heldRuns) {}

  private Forced takeOffline(Session tx, WorkerId worker, String reason) throws SQLException {
    WorkerRows.Known row =
        WorkerRows.offline(tx, worker, true).orElseThrow(() -> Refusal.notFound("worker", worker));
    WorkerRows.event(
        tx,
        Optional.of(row),
        "OFFLINE",
        reason.isEmpty() ? "forced by an administrator" : "forced by an administrator: " + reason);
    return new Forced(row, held(tx, row).size());
  }

  /** A worker never changes its namespace, so the cache entry is always right. */
  private boolean isIn(@Nullable String namespace, WorkerId worker) {
    if (namespace == null) {
      return true;
    }
    CachedWorker known = cachedWorkers.get(worker);
    QueueName queue =
        known != null
            ? known.queue
            : database
                .read(session -> WorkerRows.find(session, worker))
                .map(WorkerRows.Known::queue)
                .orElse(null);
    return queue != null && queue.namespace().equals(namespace);
  }

  private boolean drainNow(WorkerId worker, String reason) {
    Optional<WorkerRows.Known> row =
        database.writeRepeatable(
            tx -> {
              Optional<WorkerRows.Known> found = WorkerRows.drain(tx, worker);
              WorkerRows.event(tx, found, "DRAINING", reason);
              return found.isPresent()
                  ? found
                  : WorkerRows.find(tx, worker)
                      .filter(known -> known.status() == WorkerStatus.DRAINING);
            });
    if (row.isPresent()) {
      cache(row.get());
      dispatcher.workerLeaves(worker);
    }
    return row.isPresent();
  }

  private void publishDrain(WorkerId worker) {
    if (!drainAttached(worker)) {
      notifier.publish(new ServerMessage.Drain(worker));
    }
  }

  /** Sends DRAIN to a worker that is attached to this server; returns false if it is not. */
  public boolean drainAttached(WorkerId worker) {
    cachedWorkers.computeIfPresent(
        worker,
        (id, old) ->
            new CachedWorker(
                old.queue, WorkerStatus.DRAINING, old.limits, old.atNanos, old.beatNanos));
    dispatcher.workerLeaves(worker);
    Attached stream = attached.get(worker);
    if (stream != null) {
      stream.listener.drain();
    }
    return stream != null;
  }

  /** Opens a worker's stream. The listener receives refusals. */
  public Attachment attach(String namespace, WorkerId worker, AttachListener listener) {
    UUID attachId = RunId.next().value();
    async(
            () -> {
              WorkerRows.Known row =
                  database
                      .writeRepeatable(tx -> WorkerRows.attach(tx, worker, namespace, attachId))
                      .orElseThrow(() -> Refusal.notFound("worker", worker));
              cache(row);
              return row;
            })
        .whenComplete(
            (row, refusal) -> {
              if (refusal != null) {
                listener.closed(asRefusal(refusal));
                return;
              }
              attached.put(worker, new Attached(attachId, listener));
              listener.attached();
              if (row.status() == WorkerStatus.DRAINING) {
                listener.drain();
              }
            });
    return () -> detach(worker, attachId);
  }

  private static Refusal asRefusal(Throwable thrown) {
    Throwable cause = thrown.getCause() != null ? thrown.getCause() : thrown;
    return cause instanceof Refusal refusal
        ? refusal
        : Refusal.of(Refusal.Reason.INTERNAL, "worker", "", "the engine failed; its log says why");
  }

  private void detach(WorkerId worker, UUID attachId) {
    attached.computeIfPresent(
        worker, (id, stream) -> stream.attachId.equals(attachId) ? null : stream);
    if (!timer.isShutdown()) {
      // The worker may have lost only its connection: give it time to attach to any server.
      long brokenNanos = System.nanoTime();
      timer.schedule(
          () -> async(() -> markDetachedOffline(worker, attachId, brokenNanos)),
          config.detached().toMillis() + 100,
          TimeUnit.MILLISECONDS);
    }
  }

  /** Marks the worker offline unless it sent a heartbeat after the stream broke. */
  private boolean markDetachedOffline(WorkerId worker, UUID attachId, long brokenNanos) {
    long brokenMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - brokenNanos);
    Optional<WorkerRows.Known> gone =
        database.write(
            tx -> {
              Optional<WorkerRows.Known> row = WorkerRows.detached(tx, worker, attachId, brokenMs);
              WorkerRows.event(tx, row, "OFFLINE", "its connection broke and no heartbeat came");
              return row;
            });
    gone.ifPresent(dead -> onOffline(dead, "worker's connection broke, claims released"));
    return gone.isPresent();
  }

  /** Marks workers offline whose last heartbeat is too old; returns how many. Blocks. */
  public int markStaleOffline() {
    List<WorkerRows.Known> gone =
        database.write(
            tx -> {
              List<WorkerRows.Known> rows =
                  WorkerRows.stale(tx, config.stale().toMillis(), STALE_MAX);
              WorkerRows.event(tx, ids(rows), "OFFLINE", "no heartbeat");
              return rows;
            });
    gone.forEach(worker -> onOffline(worker, "worker missed its heartbeats, claims released"));
    return gone.size();
  }

  /**
   * Deletes the rows of workers that have been offline for {@code offlineMs}; returns how many.
   * Blocks.
   */
  public int purgeOffline(long offlineMs, int max) {
    return database.write(tx -> WorkerRows.purge(tx, offlineMs, max));
  }

  /**
   * Releases claims of workers that have been offline for a while; returns how many. The server
   * that marked them offline may have died before it released the claims, and a run with a long
   * lease would wait for its end. A worker that registered again has listed its claims by then and
   * keeps them. Blocks.
   */
  public int releaseOrphanedClaims() {
    List<Claim> orphaned =
        database.read(
            session -> HeldRuns.forgotten(session, config.stale().toMillis(), ORPHANED_MAX));
    if (!orphaned.isEmpty()) {
      release.accept(orphaned, ReleaseClaim.Cause.WORKER_GONE);
      log.atWarn()
          .addKeyValue("claims", orphaned.size())
          .log("claims of workers that are offline were still held, released");
    }
    return orphaned.size();
  }

  /** Evicts cache entries of workers that report to another server. */
  public void evictOld() {
    evictNotSeenFor(EVICT_NANOS);
  }

  /** Returns how many entries are left. */
  int evictNotSeenFor(long nanos) {
    long now = System.nanoTime();
    cachedWorkers.values().removeIf(worker -> now - worker.atNanos > nanos);
    return cachedWorkers.size();
  }

  private int onOffline(WorkerRows.Known worker, String message) {
    evict(worker.id());
    int released = releaseAll(worker, ReleaseClaim.Cause.WORKER_GONE);
    log.atWarn()
        .addKeyValue("worker", worker.id())
        .addKeyValue("queue", worker.queue().queue())
        .addKeyValue("claims", released)
        .log(message);
    return released;
  }

  private int releaseAll(WorkerRows.Known worker, ReleaseClaim.Cause cause) {
    List<HeldRuns.Held> held = held(worker);
    release.accept(held.stream().map(HeldRuns.Held::claim).toList(), cause);
    return held.size();
  }

  private List<HeldRuns.Held> held(WorkerRows.Known worker) {
    return database.read(session -> held(session, worker));
  }

  private List<HeldRuns.Held> held(Session session, WorkerRows.Known worker) throws SQLException {
    return HeldRuns.of(
        session, worker.id(), worker.queue(), worker.types(), config.lease().toMillis());
  }

  private void evict(WorkerId worker) {
    cachedWorkers.remove(worker);
    dispatcher.workerLeaves(worker);
    Attached stream = attached.remove(worker);
    if (stream != null) {
      stream.listener.closed(Refusal.notFound("worker", worker));
    }
  }

  /** Tells a worker to stop executing a run, on any server to which it is attached. */
  public void stop(WorkerId worker, Claim claim, RunStatus status) {
    if (!stopAttached(worker, claim, status)) {
      notifier.publish(new ServerMessage.Stop(worker, claim, status));
    }
  }

  /** Tells a worker that its run may have new messages, on any server to which it is attached. */
  public void wake(WorkerId worker, Claim claim) {
    if (!wakeAttached(worker, claim)) {
      notifier.publish(new ServerMessage.Wake(worker, claim));
    }
  }

  /** Does the same for a worker that is attached to this server; returns false if it is not. */
  public boolean wakeAttached(WorkerId worker, Claim claim) {
    Attached stream = attached.get(worker);
    if (stream != null) {
      stream.listener.wake(List.of(claim));
    }
    return stream != null;
  }

  /** Does the same for a worker that is attached to this server; returns false if it is not. */
  public boolean stopAttached(WorkerId worker, Claim claim, RunStatus status) {
    Attached stream = attached.get(worker);
    if (stream != null) {
      stream.listener.stop(List.of(claim), status);
    }
    return stream != null;
  }

  private static List<WorkerId> ids(List<WorkerRows.Known> workers) {
    List<WorkerId> all = new ArrayList<>();
    workers.forEach(worker -> all.add(worker.id()));
    return all;
  }

  private <T> CompletableFuture<T> async(Supplier<T> work) {
    return CompletableFuture.supplyAsync(work, blocking);
  }

  @Override
  public void close() {
    timer.shutdownNow();
    attached.forEach(
        (worker, stream) ->
            stream.listener.closed(
                Refusal.of(Refusal.Code.SERVER_STOPPING, "server", "", "this server is stopping")));
    attached.clear();
    heartbeats.close();
  }
}
