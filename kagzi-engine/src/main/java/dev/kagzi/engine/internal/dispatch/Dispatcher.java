package dev.kagzi.engine.internal.dispatch;

import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.config.MemoryConfig;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.run.SlotReservation;
import dev.kagzi.engine.internal.run.StartRun;
import dev.kagzi.engine.memory.ByteBudget;
import dev.kagzi.engine.metrics.DispatchMetrics;
import dev.kagzi.engine.thread.EssentialThreads;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives due runs to waiting polls. Receives polls and events, forwards each to its {@link
 * TaskQueue}, and executes what the queue returns. Thread-safe.
 */
public final class Dispatcher implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Dispatcher.class);
  private static final long SWEEP_MS = 500;

  /** How many idle queues one statement checks for due runs. */
  private static final int IDLE_QUEUES_MAX = 200;

  /** A server that is alone loses no message of another one, and checks idle queues less often. */
  private static final int ALONE_FACTOR = 3;

  private final DispatchConfig config;
  private final ClaimRules rules;
  private final BooleanSupplier isAlone;
  private final DispatchMetrics metrics;
  private final ClaimRegistry registry = new ClaimRegistry();

  /** Limits the bytes of tasks that wait for the polls of their workers. */
  private final ByteBudget taskBytes;

  private final Map<QueueName, TaskQueue> queues = new ConcurrentHashMap<>();

  /** Queues with tasks of started runs; {@link #answerPolls} delivers them. */
  private final Set<TaskQueue> queuesWithStarts = ConcurrentHashMap.newKeySet();

  private final BlockingQueue<ClaimRequest> claimRequests = new LinkedBlockingQueue<>();
  private final ScheduledThreadPoolExecutor timer;
  private final EffectExecutor effects;
  private final ClaimLoop claimLoop;
  private long idleCheckNanos = System.nanoTime();

  public Dispatcher(
      Database database,
      DispatchConfig config,
      ClaimRules rules,
      DispatchCallbacks callbacks,
      MemoryConfig memory,
      DispatchMetrics metrics,
      EssentialThreads threads) {
    this.metrics = metrics;
    this.config = config;
    this.rules = rules;
    this.isAlone = callbacks.isAlone();
    this.taskBytes = new ByteBudget(memory.taskBytesMax());
    this.timer = threads.timer("kagzi-timer");
    this.effects = new EffectExecutor(claimRequests, timer, callbacks.release(), metrics);
    this.claimLoop =
        new ClaimLoop(
            database,
            new ClaimLoop.Settings(config, rules, callbacks, memory.readBytesMax()),
            claimRequests,
            taskBytes,
            registry,
            metrics,
            effects);
    timer.scheduleWithFixedDelay(this::sweep, SWEEP_MS, SWEEP_MS, TimeUnit.MILLISECONDS);
    claimLoop.start(threads);
  }

  public Poll poll(PollRequest request, WorkerLimits limits) {
    WaitingPoll poll = new WaitingPoll(request);
    QueueEffects added = new QueueEffects();
    // Add the poll inside of compute, so that the sweep cannot remove the queue before that.
    TaskQueue queue =
        queues.compute(
            request.queue(),
            (name, present) -> {
              TaskQueue target = present == null ? create(name) : present;
              added.addAll(target.add(poll, limits));
              return target;
            });
    effects.execute(queue, added);
    scheduleTimeout(queue, poll);
    return new Poll(poll.tasks(), () -> effects.execute(queue, queue.cancel(poll)));
  }

  private TaskQueue create(QueueName name) {
    return new TaskQueue(name, config, taskBytes, metrics.queue(name.namespace(), name.queue()));
  }

  private void scheduleTimeout(TaskQueue queue, WaitingPoll poll) {
    if (poll.tasks().isDone()) {
      return;
    }
    Future<?> timeout =
        timer.schedule(
            () -> effects.execute(queue, queue.timeOut(poll)),
            poll.request().waitMs(),
            TimeUnit.MILLISECONDS);
    poll.tasks().whenComplete((tasks, failure) -> timeout.cancel(false));
  }

  public long pollMsMax() {
    return config.pollMax().toMillis();
  }

  /**
   * Reserves a worker's free slot for a run that is about to start. Returns null if there is none,
   * if older runs may need it, or if waiting tasks use up their memory.
   */
  public @Nullable SlotReservation reserve(QueueName name, TypeVersion type) {
    TaskQueue queue = queues.get(name);
    PollingWorker worker = queue == null ? null : queue.reserveSlot(type);
    return queue == null || worker == null
        ? null
        : new ReservedSlot(queue, worker, type, queue.cleanUpMs(worker, type));
  }

  private final class ReservedSlot implements SlotReservation {
    private final TaskQueue queue;
    private final PollingWorker worker;
    private final TypeVersion type;
    private final long cleanUpMs;
    private final AtomicBoolean open = new AtomicBoolean(true);
    private final long reservedNanos = System.nanoTime();

    ReservedSlot(TaskQueue queue, PollingWorker worker, TypeVersion type, long cleanUpMs) {
      this.queue = queue;
      this.worker = worker;
      this.type = type;
      this.cleanUpMs = cleanUpMs;
    }

    @Override
    public WorkerId worker() {
      return worker.workerId;
    }

    @Override
    public long leaseMs() {
      return config.firstLease().toMillis();
    }

    @Override
    public long cleanUpMs() {
      return cleanUpMs;
    }

    @Override
    public void started(StartRun run, Instant createdAt) {
      if (open.getAndSet(false)) {
        // The run is due from its start: the reservation was made when the call arrived.
        dispatchStarted(
            queue, worker, Task.ofStart(run, createdAt, rules.stepTimeoutMs(), reservedNanos));
      }
    }

    @Override
    public void notStarted() {
      if (open.getAndSet(false)) {
        queue.freeSlot(worker, type);
      }
    }
  }

  private void dispatchStarted(TaskQueue queue, PollingWorker worker, Task task) {
    if (registry.add(worker.workerId, task.claim(), queue.name())) {
      metrics.handedOver.increment();
      queue.metrics().handedOver();
      effects.execute(queue, queue.fillSlot(worker, task));
      queuesWithStarts.add(queue);
    } else {
      // A repeated start has found the run of the first one, whose task was already dispatched.
      queue.freeSlot(worker, task.type());
    }
  }

  public void answerPolls() {
    if (queuesWithStarts.isEmpty()) {
      return;
    }
    for (TaskQueue queue : List.copyOf(queuesWithStarts)) {
      queuesWithStarts.remove(queue);
      effects.execute(queue, queue.answerPolls());
    }
  }

  /**
   * A run of this server is due after the delay. Returns whether workers that wait here have a slot
   * for it; otherwise, other servers must know about it.
   */
  public boolean runDue(QueueName name, TypeVersion type, long delayMs) {
    TaskQueue queue = queues.get(name);
    if (queue == null) {
      return false;
    }
    // Compute this before executing the effects: the claim round that they may request reserves the
    // slots.
    QueueEffects announced = queue.runsDue(type, delayMs, 1);
    boolean covered = delayMs <= 0 && queue.coversBacklog(type);
    effects.execute(queue, announced);
    return covered;
  }

  /** At most this many runs are due after the delay; 0: an unknown number. */
  public void runsDue(QueueName name, TypeVersion type, long delayMs, int runsMax) {
    update(name, queue -> queue.runsDue(type, delayMs, runsMax));
  }

  /** Checks all queues for due runs, because events may have been missed. */
  public void checkEverything() {
    updateAll(TaskQueue::checkEverything);
  }

  /**
   * The database may have lost commits: forgets claims up to this epoch, and checks all queues,
   * also for runs that were claimed or had ended before.
   */
  public void commitsLost(int epochMax) {
    registry.removeUpTo(epochMax);
    updateAll(queue -> queue.checkFrom(0));
  }

  public void namespaceEnabled(String namespace) {
    updateAll(namespace, TaskQueue::checkEverything);
  }

  /** Releases the tasks that no worker of the namespace has received; polls keep waiting. */
  public void namespaceDisabled(String namespace) {
    updateAll(namespace, TaskQueue::releaseTasks);
  }

  public void claimEnded(Claim claim) {
    ClaimRegistry.Held held = registry.remove(claim);
    if (held != null) {
      update(held.queue(), queue -> queue.slotFreed(held.worker()));
    }
  }

  /** Ends the polls of a worker that takes no more tasks, and releases tasks that wait for it. */
  public void workerLeaves(WorkerId worker) {
    updateAll(queue -> queue.removeWorker(worker));
  }

  private void update(QueueName name, Function<TaskQueue, QueueEffects> change) {
    TaskQueue queue = queues.get(name);
    if (queue != null) {
      effects.execute(queue, change.apply(queue));
    }
  }

  private void updateAll(Function<TaskQueue, QueueEffects> change) {
    queues.values().forEach(queue -> effects.execute(queue, change.apply(queue)));
  }

  private void updateAll(String namespace, Function<TaskQueue, QueueEffects> change) {
    for (TaskQueue queue : queues.values()) {
      if (queue.name().namespace().equals(namespace)) {
        effects.execute(queue, change.apply(queue));
      }
    }
  }

  private void sweep() {
    try {
      queues.forEach(this::sweep);
      checkIdleQueues(System.nanoTime());
    } catch (RuntimeException bug) {
      log.atError().setCause(bug).log("sweeping the task queues failed");
    }
  }

  private void sweep(QueueName name, TaskQueue queue) {
    effects.execute(queue, queue.sweep());
    if (queues.computeIfPresent(name, (same, it) -> it.isUnused() ? null : it) == null) {
      effects.cancelWakeUp(queue);
    } else if (!queue.isIdle() && queue.requestFallback()) {
      addCheck(ClaimRequest.ofFallback(List.of(queue)));
    }
  }

  /** Checks all idle queues at once, so that their number adds no statements. */
  private void checkIdleQueues(long nowNanos) {
    long intervalNanos = config.fallbackInterval().toNanos();
    if (nowNanos - idleCheckNanos < (isAlone.getAsBoolean() ? ALONE_FACTOR : 1) * intervalNanos) {
      return;
    }
    idleCheckNanos = nowNanos;
    List<TaskQueue> idle = new ArrayList<>();
    for (TaskQueue queue : queues.values()) {
      if (queue.isIdle()) {
        idle.add(queue);
      }
    }
    for (int i = 0; i < idle.size(); i += IDLE_QUEUES_MAX) {
      int end = Math.min(idle.size(), i + IDLE_QUEUES_MAX);
      addCheck(ClaimRequest.ofFallback(List.copyOf(idle.subList(i, end))));
    }
  }

  /** Adds no check behind the same one that still waits, as it does while the database hangs. */
  private void addCheck(ClaimRequest check) {
    if (!claimRequests.contains(check)) {
      claimRequests.add(check);
    }
  }

  public ClaimRegistry registry() {
    return registry;
  }

  @Override
  public void close() {
    timer.shutdownNow();
    claimLoop.close();
    updateAll(TaskQueue::removeWorkers);
  }
}
