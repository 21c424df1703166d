package dev.kagzi.engine.worker;

import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.dispatch.Dispatcher;
import dev.kagzi.engine.internal.dispatch.WorkerLimits;
import dev.kagzi.engine.internal.journal.Journal;
import dev.kagzi.engine.internal.namespace.NamespaceRows;
import dev.kagzi.engine.internal.notification.Notifier;
import dev.kagzi.engine.internal.notification.ServerMessage;
import dev.kagzi.engine.internal.request.IdempotentCall;
import dev.kagzi.engine.internal.request.IdempotentCalls;
import dev.kagzi.engine.internal.run.FailureHandler;
import dev.kagzi.engine.internal.run.RunWrite;
import dev.kagzi.engine.internal.run.TakeReason;
import dev.kagzi.engine.internal.worker.AttachStreams;
import dev.kagzi.engine.internal.worker.Heartbeats;
import dev.kagzi.engine.internal.worker.Recovery;
import dev.kagzi.engine.internal.worker.WorkerCache;
import dev.kagzi.engine.internal.worker.WorkerRows;
import dev.kagzi.engine.metrics.Meters;
import dev.kagzi.engine.namespace.Namespaces;
import dev.kagzi.engine.thread.EssentialThreads;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.value.WorkerStatus;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registers, drains and deregisters workers. If a call names a namespace, the worker must belong to
 * it; null accepts any. Heartbeats, Attach streams and the recovery of runs are in {@link
 * Heartbeats}, {@link AttachStreams} and {@link Recovery}. Thread-safe.
 */
public final class Workers implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Workers.class);
  private static final long EVICT_NANOS = TimeUnit.MINUTES.toNanos(10);

  private final Database database;
  private final WorkerConfig config;
  private final Limits limits;
  private final Namespaces namespaces;
  private final Dispatcher dispatcher;
  private final Notifier notifier;
  private final Executor blocking = Executors.newVirtualThreadPerTaskExecutor();
  private final WorkerCache cache;
  private final Recovery recovery;
  private final Heartbeats heartbeats;
  private final AttachStreams streams;

  public Workers(
      Database database,
      WorkerConfig config,
      Limits limits,
      Namespaces namespaces,
      Dispatcher dispatcher,
      Notifier notifier,
      Journal<RunWrite<?>> journal,
      Meters meters,
      EssentialThreads threads) {
    this.database = database;
    this.config = config;
    this.limits = limits;
    this.namespaces = namespaces;
    this.dispatcher = dispatcher;
    this.notifier = notifier;
    this.cache = new WorkerCache(database, blocking);
    this.recovery = new Recovery(database, config, dispatcher.registry(), journal, this::evict);
    this.heartbeats =
        new Heartbeats(
            database, config, cache, recovery, journal, meters.journal("heartbeats"), threads);
    this.streams =
        new AttachStreams(
            database,
            cache,
            recovery,
            config.detached().toMillis(),
            blocking,
            threads.timer("kagzi-attach"));
  }

  /** Returns the service that takes runs away from workers that crashed or hang. */
  public Recovery recovery() {
    return recovery;
  }

  public int heartbeatIntervalSecs() {
    return (int) Math.max(1, config.heartbeat().toSeconds());
  }

  private record Registered(WorkerRows.Known worker, List<WorkerRows.Known> replaced) {}

  /**
   * Registers a worker. Every registration creates a new worker, but a repeated call with the same
   * request id returns the first one, if it is not offline. An earlier registration with the same
   * queue, host, pid and instance id is marked offline.
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
                  made -> made.worker.id().toString(),
                  (tx, stored) -> registeredBefore(tx, r, call, stored));
          registered.replaced.forEach(worker -> evict(worker.id()));
          cache.put(registered.worker);
          WorkerId id = registered.worker.id();
          log.atInfo()
              .addKeyValue("worker", id)
              .addKeyValue("namespace", r.queue().namespace())
              .addKeyValue("queue", r.queue().queue())
              .addKeyValue("host", r.hostname())
              .log("worker registered");
          return id;
        });
  }

  private static Registered insert(Session tx, WorkerRegistration r) throws SQLException {
    List<WorkerRows.Known> before = WorkerRows.replace(tx, r);
    WorkerRows.Known worker = WorkerRows.insert(tx, r);
    if (r.served().stream().anyMatch(t -> t.type().equals(FailureHandler.TYPE))) {
      NamespaceRows.markFailureHandler(tx, r.queue().namespace(), r.queue().queue());
    }
    WorkerRows.event(tx, before, "OFFLINE", "registered again");
    WorkerRows.event(tx, List.of(worker), "ONLINE", "registered");
    return new Registered(worker, before);
  }

  /** Registers again if the first registration has gone offline since. */
  private static Registered registeredBefore(
      Session tx, WorkerRegistration r, IdempotentCall call, String stored) throws SQLException {
    WorkerId id = WorkerId.parse(stored).orElseThrow();
    Optional<WorkerRows.Known> present =
        WorkerRows.find(tx, id).filter(row -> row.status() != WorkerStatus.OFFLINE);
    if (present.isPresent()) {
      return new Registered(present.get(), List.of());
    }
    Registered second = insert(tx, r);
    IdempotentCalls.storeAnswer(tx, call, second.worker.id().toString());
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

  public CompletableFuture<HeartbeatResult> heartbeat(WorkerHeartbeat h) {
    return heartbeats
        .accept(h)
        .whenComplete(
            (result, refusal) -> {
              // Another server has marked the worker offline: this server must claim no more runs
              // for it.
              if (refusal != null
                  && asRefusal(refusal).reason() == Refusal.Reason.NOT_FOUND
                  && cache.mayBeIn(h.workerId(), h.namespace())) {
                evict(h.workerId());
              }
            });
  }

  public CompletableFuture<WorkerLimits> require(WorkerId worker, QueueName queue, boolean simple) {
    return cache.require(worker, queue, simple);
  }

  /**
   * Marks a worker offline and releases its runs. With {@code drain}, only marks it DRAINING; the
   * worker deregisters without drain when its runs have ended. Returns true if the worker holds no
   * run, false if it is unknown.
   */
  public CompletableFuture<Boolean> deregister(
      @Nullable String namespace, WorkerId worker, boolean drain) {
    limits.checkOptionalName("namespace", namespace);
    return async(
        () -> {
          if (!cache.isIn(namespace, worker)) {
            return false;
          }
          dispatcher.workerLeaves(worker);
          if (drain) {
            drainNow(worker, "asked to by the worker");
            return database.read(
                session -> {
                  Optional<WorkerRows.Known> row = WorkerRows.find(session, worker);
                  return row.isPresent() && !recovery.hasRuns(session, row.get());
                });
          }
          Optional<WorkerRows.Known> gone =
              IdempotentCalls.once(
                  database,
                  IdempotentCall.of(null, "Deregister", worker),
                  tx -> {
                    Optional<WorkerRows.Known> row = WorkerRows.offline(tx, worker, false);
                    WorkerRows.event(
                        tx, row.stream().toList(), "OFFLINE", TakeReason.WORKER_LEFT.text());
                    return row;
                  },
                  row -> "",
                  (tx, stored) -> WorkerRows.find(tx, worker));
          evict(worker);
          gone.ifPresent(row -> recovery.releaseAll(row, TakeReason.WORKER_LEFT));
          // A repeated call finds the worker offline already.
          return gone.isPresent() || isKnown(worker);
        });
  }

  private boolean isKnown(WorkerId worker) {
    return database.read(session -> WorkerRows.find(session, worker)).isPresent();
  }

  /** Sets a worker to DRAINING for an administrator; returns false if it is offline. */
  public CompletableFuture<Boolean> drain(@Nullable String namespace, WorkerId worker) {
    limits.checkOptionalName("namespace", namespace);
    return async(
        () -> {
          if (!cache.isIn(namespace, worker)) {
            throw Refusal.notFound("worker", worker);
          }
          if (drainNow(worker, "asked to by an administrator")) {
            send(new ServerMessage.Drain(worker));
            return true;
          }
          if (!isKnown(worker)) {
            throw Refusal.notFound("worker", worker);
          }
          return false;
        });
  }

  /**
   * Marks a worker offline on behalf of an administrator and releases its claims. Returns how many
   * runs it held.
   *
   * @param requestId a repeated call with the same id returns the first result; null for none
   */
  public CompletableFuture<Integer> forceOffline(
      @Nullable String namespace, WorkerId worker, String reason, @Nullable UUID requestId) {
    limits.checkOptionalName("namespace", namespace);
    limits.checkText("reason", reason);
    return async(
        () -> {
          if (!cache.isIn(namespace, worker)) {
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
          recovery.releaseAll(forced.worker, TakeReason.WORKER_FORCED_OFFLINE);
          return forced.heldRuns;
        });
  }

  private record Forced(WorkerRows.Known worker, int heldRuns) {}

  private Forced takeOffline(Session tx, WorkerId worker, String reason) throws SQLException {
    WorkerRows.Known row =
        WorkerRows.offline(tx, worker, true).orElseThrow(() -> Refusal.notFound("worker", worker));
    String forced = TakeReason.WORKER_FORCED_OFFLINE.text();
    WorkerRows.event(
        tx, List.of(row), "OFFLINE", reason.isEmpty() ? forced : forced + ": " + reason);
    return new Forced(row, recovery.held(tx, row).size());
  }

  private boolean drainNow(WorkerId worker, String reason) {
    Optional<WorkerRows.Known> row =
        database.writeRepeatable(
            tx -> {
              Optional<WorkerRows.Known> found = WorkerRows.drain(tx, worker);
              WorkerRows.event(tx, found.stream().toList(), "DRAINING", reason);
              return found.isPresent()
                  ? found
                  : WorkerRows.find(tx, worker)
                      .filter(known -> known.status() == WorkerStatus.DRAINING);
            });
    if (row.isPresent()) {
      cache.put(row.get());
      dispatcher.workerLeaves(worker);
    }
    return row.isPresent();
  }

  /** Sends a message to a worker, on any server to which it is attached. */
  public void send(ServerMessage.ToWorker message) {
    if (!sendAttached(message)) {
      notifier.publish(message);
    }
  }

  /** Like {@link #send}, but returns false if the worker is not attached to this server. */
  public boolean sendAttached(ServerMessage.ToWorker message) {
    if (message instanceof ServerMessage.Drain) {
      cache.drains(message.worker());
      dispatcher.workerLeaves(message.worker());
    }
    return streams.send(message);
  }

  public Attachment attach(String namespace, WorkerId worker, AttachListener listener) {
    return streams.open(namespace, worker, listener);
  }

  public static Refusal asRefusal(Throwable thrown) {
    Throwable cause = thrown.getCause() != null ? thrown.getCause() : thrown;
    return cause instanceof Refusal refusal
        ? refusal
        : Refusal.of(Refusal.Reason.INTERNAL, "worker", "", "the engine failed; its log says why");
  }

  /** Deletes workers that have been offline for {@code offlineMs}; returns how many. Blocks. */
  public int purgeOffline(long offlineMs, int max) {
    return database.write(tx -> WorkerRows.purge(tx, offlineMs, max));
  }

  public void evictOld() {
    evictNotSeenFor(EVICT_NANOS);
  }

  int evictNotSeenFor(long nanos) {
    return cache.evictNotSeenFor(nanos);
  }

  private void evict(WorkerId worker) {
    cache.remove(worker);
    dispatcher.workerLeaves(worker);
    streams.close(worker);
  }

  private <T> CompletableFuture<T> async(Supplier<T> work) {
    return CompletableFuture.supplyAsync(work, blocking);
  }

  @Override
  public void close() {
    streams.close();
    heartbeats.close();
  }
}
