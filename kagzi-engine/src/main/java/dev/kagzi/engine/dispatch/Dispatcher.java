package dev.kagzi.engine.dispatch;

import dev.kagzi.engine.db.Database;
import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.memory.ByteBudget;
import dev.kagzi.engine.memory.MemoryConfig;
import dev.kagzi.engine.run.SlotReservation;
import dev.kagzi.engine.thread.EssentialThreads;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** All gates of this server, and the threads that look for runs on their behalf. Thread-safe. */
public final class Dispatcher implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Dispatcher.class);
  private static final long SWEEP_MS = 500;

  private final Database database;
  private final DispatchConfig config;
  private final ClaimRules rules;
  private final Consumer<List<Claim>> giveBack;
  private final Consumer<RunId> failCrashed;
  private final BiPredicate<QueueName, Task> admission;
  private final Predicate<String> isOpen;
  private final DispatchMetrics meter = new DispatchMetrics();
  private final ClaimRegistry book = new ClaimRegistry();
  private final Map<QueueName, TaskQueue> gates = new ConcurrentHashMap<>();
  private final Set<TaskQueue> dirty = ConcurrentHashMap.newKeySet();
  private final BlockingQueue<Errand> errands = new LinkedBlockingQueue<>();
  private final ScheduledThreadPoolExecutor timer;
  private final List<Thread> claimers = new ArrayList<>();
  private final ByteBudget onTheirWay;
  private final long readBytesMax;
  private volatile boolean closed;

  /** A look that a gate asked for, or the slow fallback. */
  private record Errand(TaskQueue gate, boolean fallback) {}

  /**
   * Claims that nobody takes are handed to {@code giveBack}, runs that were taken over too often to
   * {@code failCrashed}. A run that a look has claimed is given to a worker if {@code admission}
   * says so; if not, that has ended the claim itself. Nothing is looked for in a namespace that is
   * not open.
   */
  public Dispatcher(
      Database database,
      DispatchConfig config,
      ClaimRules rules,
      Consumer<List<Claim>> giveBack,
      Consumer<RunId> failCrashed,
      BiPredicate<QueueName, Task> admission,
      Predicate<String> isOpen,
      MemoryConfig memory,
      EssentialThreads threads) {
    this.database = database;
    this.config = config;
    this.rules = rules;
    this.giveBack = giveBack;
    this.failCrashed = failCrashed;
    this.admission = admission;
    this.isOpen = isOpen;
    this.onTheirWay = new ByteBudget(memory.taskBytesMax());
    this.readBytesMax = memory.readBytesMax();
    this.timer = threads.timer("kagzi-timer");
    timer.scheduleWithFixedDelay(this::sweep, SWEEP_MS, SWEEP_MS, TimeUnit.MILLISECONDS);
    for (int i = 0; i < config.claimers(); i++) {
      claimers.add(threads.loop("kagzi-claim-" + i, this::claimLoop));
    }
    claimers.forEach(Thread::start);
  }

  Poll stand(PollRequest request, WorkerLimits limits) {
    TaskQueue gate =
        gates.compute(
            request.queue(),
            (queue, there) ->
                TaskQueue.entered(there == null ? new TaskQueue(queue, this) : there));
    try {
      return gate.stand(request, limits);
    } finally {
      gate.leaveDoor();
    }
  }

  /** A waiting worker's slot for a run that is about to start. */
  public @Nullable SlotReservation reserve(QueueName queue, TypeVersion type) {
    TaskQueue gate = gates.get(queue);
    return gate == null ? null : gate.reserve(type);
  }

  /** A run of a type is due, now or later. */
  public void due(QueueName queue, TypeVersion type, long delayMs) {
    TaskQueue gate = gates.get(queue);
    if (gate != null) {
      gate.due(type, delayMs);
    }
  }

  /** The same of any number of runs: another server says so, or they were not counted. */
  public void someDue(QueueName queue, TypeVersion type, long delayMs) {
    TaskQueue gate = gates.get(queue);
    if (gate != null) {
      gate.someDue(type, delayMs);
    }
  }

  /** Something may have been missed. */
  public void lookAtEverything() {
    gates.values().forEach(TaskQueue::lookAtEverything);
  }

  /** From now on there is work in the namespace. */
  public void open(String namespace) {
    of(namespace).forEach(TaskQueue::lookAtEverything);
  }

  /** What is on its way to workers of the namespace goes back; their polls go on standing. */
  public void shut(String namespace) {
    of(namespace).forEach(TaskQueue::giveBackAll);
  }

  private List<TaskQueue> of(String namespace) {
    return gates.values().stream()
        .filter(gate -> gate.queue().namespace().equals(namespace))
        .toList();
  }

  /** A claim has ended: its worker can take the next. */
  public void claimEnded(Claim claim) {
    ClaimRegistry.Held held = book.ended(claim);
    TaskQueue gate = held == null ? null : gates.get(held.queue());
    if (held != null && gate != null) {
      gate.freed(held.worker());
    }
  }

  /** The worker takes no more work. */
  public void dismiss(WorkerId worker) {
    gates.values().forEach(gate -> gate.dismiss(worker));
  }

  void dirty(TaskQueue gate) {
    dirty.add(gate);
  }

  /** Answers polls whose tasks have come with the last commit. */
  public void flush() {
    if (dirty.isEmpty()) {
      return;
    }
    for (TaskQueue gate : List.copyOf(dirty)) {
      dirty.remove(gate);
      gate.flush();
    }
  }

  void submit(TaskQueue gate) {
    errands.add(new Errand(gate, false));
  }

  void giveBack(List<Claim> claims) {
    giveBack.accept(claims);
  }

  /** Inputs and histories of tasks that wait for the polls of their workers. */
  ByteBudget onTheirWay() {
    return onTheirWay;
  }

  ClaimRules rules() {
    return rules;
  }

  DispatchConfig config() {
    return config;
  }

  public DispatchMetrics meter() {
    return meter;
  }

  public ClaimRegistry book() {
    return book;
  }

  ScheduledExecutorService timer() {
    return timer;
  }

  private void sweep() {
    try {
      for (QueueName queue : gates.keySet()) {
        TaskQueue left = gates.computeIfPresent(queue, (name, gate) -> gate.sweep() ? null : gate);
        if (left != null && !left.quietFor(config.fallbackLook().toNanos()).isEmpty()) {
          errands.add(new Errand(left, true));
        }
      }
    } catch (RuntimeException bug) {
      log.atError().setCause(bug).log("sweeping the gates failed");
    }
  }

  private void claimLoop() {
    Session session = null;
    while (!closed) {
      Errand errand = null;
      try {
        errand = errands.take();
        if (session == null || !session.isUsable()) {
          session = database.open("claim");
        }
        if (errand.fallback) {
          fallback(session, errand.gate);
        } else {
          look(session, errand.gate);
        }
      } catch (InterruptedException stopped) {
        break;
      } catch (SQLException e) {
        database.failed("claim", e, session);
        if (session != null) {
          session.close();
          session = null;
        }
        pauseAfterFailure(errand);
      } catch (RuntimeException bug) {
        log.atError().setCause(bug).log("a look for runs failed unexpectedly");
        pauseAfterFailure(errand);
      }
    }
    if (session != null) {
      session.close();
    }
  }

  private void pauseAfterFailure(@Nullable Errand errand) {
    try {
      TimeUnit.MILLISECONDS.sleep(100);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
    if (errand != null && !errand.fallback) {
      errand.gate.endLook();
    }
  }

  /** Asks only whether anything is due; if so, something should have said it. */
  private void fallback(Session session, TaskQueue gate) throws SQLException {
    List<PollRequest.Wanted> types = gate.quietFor(0);
    if (types.isEmpty() || !isOpen.test(gate.queue().namespace())) {
      return;
    }
    List<PollRequest.Wanted> exact = ClaimRuns.withVersions(session, gate.queue(), types);
    if (exact.isEmpty()) {
      return;
    }
    ClaimRuns.NextDue next = ClaimRuns.nextDue(session, gate.queue(), exact, type -> 0);
    if (next.isOverdue()) {
      meter.fallbackClaimed.increment();
      gate.lookBelow();
    } else {
      gate.nextDue(next);
    }
  }

  private void look(Session session, TaskQueue gate) throws SQLException {
    if (!isOpen.test(gate.queue().namespace())) {
      gate.rest();
      return;
    }
    meter.looks.increment();
    List<ClaimGroup> groups = gate.beginLook();
    int done = 0;
    try {
      for (ClaimGroup group : groups) {
        look(session, gate, group);
        done++;
      }
    } finally {
      for (ClaimGroup group : groups.subList(done, groups.size())) {
        gate.failed(group);
      }
    }
    gate.endLook();
  }

  private void look(Session session, TaskQueue gate, ClaimGroup group) throws SQLException {
    List<PollRequest.Wanted> exact = ClaimRuns.withVersions(session, gate.queue(), group.types());
    long free = onTheirWay.free();
    if (free == 0) {
      // Workers do not come for what was claimed for them: what is due waits in the database.
      gate.failed(group);
      pauseAfterFailure(null);
      return;
    }
    long bytesMax = Math.min(readBytesMax, free);
    ClaimRuns.Found found =
        exact.isEmpty()
            ? ClaimRuns.Found.NOTHING
            : session.inTransaction(tx -> claim(tx, gate, group, exact, bytesMax));
    List<ClaimRuns.Claimed> claimed =
        found.claimed().stream().filter(run -> admission.test(gate.queue(), run.task())).toList();
    found.crashed().forEach(failCrashed);
    meter.claimed.add(claimed.size());
    gate.found(group, claimed, found.isCut());
    if (!isOpen.test(gate.queue().namespace())) {
      // Shut while the look was under way.
      gate.giveBackAll();
    }
    if (claimed.size() < group.slots().size() && !exact.isEmpty() && !found.isCut()) {
      gate.nextDue(group, ClaimRuns.nextDue(session, gate.queue(), exact, gate::lowUs));
    }
  }

  private ClaimRuns.Found claim(
      Session tx, TaskQueue gate, ClaimGroup group, List<PollRequest.Wanted> types, long bytesMax)
      throws SQLException {
    QueueName queue = gate.queue();
    List<PollRequest.Wanted> allowed = types;
    List<WorkerId> slots = group.slots();
    if (!group.limits().isNone()) {
      WorkerId worker = slots.get(0);
      HeldRuns.lock(tx, worker);
      List<HeldRuns.Held> held = HeldRuns.of(tx, worker, queue, types, rules.leaseMsMax());
      allowed = HeldRuns.within(group.limits(), types, held);
      Integer all = group.limits().all();
      int free = all == null ? slots.size() : Math.min(slots.size(), all - held.size());
      if (allowed.isEmpty() || free <= 0) {
        return ClaimRuns.Found.NOTHING;
      }
      slots = slots.subList(0, free);
    }
    ClaimRuns.Wish wish =
        new ClaimRuns.Wish(
            queue, allowed, slots, config.firstLease().toMillis(), gate::lowUs, bytesMax, rules);
    return ClaimRuns.claim(tx, wish, config.answerBytesMax() / 2);
  }

  @Override
  public void close() {
    closed = true;
    timer.shutdownNow();
    claimers.forEach(Thread::interrupt);
    gates.values().forEach(TaskQueue::close);
  }
}
