package dev.kagzi.engine.dispatch;

import dev.kagzi.engine.run.SlotReservation;
import dev.kagzi.engine.run.StartRun;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Where this server's polls of one queue stand. The gate remembers for each type whether runs may
 * be due that nobody has taken (a backlog); while there is none, a start goes straight to a free
 * slot.
 *
 * <p>Thread-safe. Futures are completed and claims given back outside of the lock.
 */
final class TaskQueue {
  private static final long RETRY_MS_FIRST = 20;
  private static final long RETRY_MS_MAX = 1_000;

  // A run can become visible later than its due time says, by as long as a transaction may take.
  private static final long LATE_US_MAX = 15_000_000;

  private final QueueName queue;
  private final Dispatcher gates;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<WorkerId, PollingWorker> desks = new LinkedHashMap<>();
  private final Backlogs backlogs = new Backlogs();
  private boolean lookQueued;
  private boolean lookAgain;
  private long lastLookNanos = System.nanoTime();
  private long lastShortNanos = System.nanoTime();
  private @Nullable Future<?> timer;
  private long timerNanos;
  private long retryMs = RETRY_MS_FIRST;
  private boolean retries;
  private int entering;

  TaskQueue(QueueName queue, Dispatcher gates) {
    this.queue = queue;
    this.gates = gates;
  }

  QueueName queue() {
    return queue;
  }

  /** Somebody is about to stand here: the gate must not be taken away meanwhile. */
  static TaskQueue entered(TaskQueue gate) {
    gate.lock.lock();
    try {
      gate.entering++;
    } finally {
      gate.lock.unlock();
    }
    return gate;
  }

  void leaveDoor() {
    lock.lock();
    try {
      entering--;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Due times of the type below this have all been taken. Looks start here, so that index entries
   * of ended runs, kept by somebody's old snapshot, are not walked again and again.
   */
  long lowUs(PollRequest.Wanted type) {
    lock.lock();
    try {
      return backlogs.lowUs(type);
    } finally {
      lock.unlock();
    }
  }

  /** Something below the mark is due after all. */
  void lookBelow() {
    lock.lock();
    try {
      backlogs.forgetMarks();
    } finally {
      lock.unlock();
    }
    lookAtEverything();
  }

  /** What is to be done once the lock is free. */
  private static final class Later {
    private final List<Runnable> actions = new ArrayList<>();

    void add(Runnable action) {
      actions.add(action);
    }

    void run() {
      actions.forEach(Runnable::run);
    }
  }

  Poll stand(PollRequest request, WorkerLimits limits) {
    WaitingPoll poll = new WaitingPoll(this, request);
    Later later = new Later();
    lock.lock();
    try {
      PollingWorker desk =
          desks.computeIfAbsent(
              request.workerId(), id -> new PollingWorker(id, limits, gates.onTheirWay()));
      desk.stand(poll);
      poll.timeout =
          gates.timer().schedule(() -> leave(poll, true), request.waitMs(), TimeUnit.MILLISECONDS);
      answer(desk, later);
      if (desk.polls.contains(poll) && hasBacklog(desk)) {
        requestLook();
      }
    } finally {
      lock.unlock();
    }
    later.run();
    return poll;
  }

  /** The poll goes without an answer, at its time or because its caller has gone. */
  void leave(WaitingPoll poll, boolean comesBack) {
    lock.lock();
    try {
      PollingWorker desk = desks.get(poll.request.workerId());
      if (desk == null || !desk.polls.remove(poll)) {
        return;
      }
      if (comesBack) {
        linger(desk, poll.request.tasksMax() + desk.takeFreed());
      } else {
        // Nobody is about to come for what is on its way: the next sweep gives it back.
        desk.linger(0, System.nanoTime());
      }
    } finally {
      lock.unlock();
    }
    poll.complete(List.of());
  }

  private void linger(PollingWorker desk, int slots) {
    desk.linger(slots, System.nanoTime() + gates.config().linger().toNanos());
  }

  /** A free slot for a run that starts, if nothing older may be due. */
  @Nullable SlotReservation reserve(TypeVersion type) {
    if (gates.onTheirWay().free() == 0) {
      return null;
    }
    long now = System.nanoTime();
    lock.lock();
    try {
      PollingWorker best = null;
      for (PollingWorker desk : desks.values()) {
        TypeVersion as = desk.limits.isNone() ? desk.servedAs(type) : null;
        if (as != null
            && desk.hasFree(as, now)
            && hasRoomBeside(backlogs.of(as), desk, now)
            && (best == null || isBetter(desk, best, now))) {
          best = desk;
        }
      }
      if (best == null) {
        return null;
      }
      best.reserve(type);
      return new Reservation(best, type);
    } finally {
      lock.unlock();
    }
  }

  /** Each run that is due and not taken has a slot before the one that starts. */
  private static boolean hasRoomBeside(Backlog backlog, PollingWorker desk, long nowNanos) {
    return backlog.isKnown() && desk.free(nowNanos) > backlog.untaken();
  }

  /** A poll that stands is answered now; a worker with the more free slots has the less to do. */
  private static boolean isBetter(PollingWorker desk, PollingWorker than, long nowNanos) {
    return desk.polls.isEmpty() == than.polls.isEmpty()
        ? desk.free(nowNanos) > than.free(nowNanos)
        : than.polls.isEmpty();
  }

  private final class Reservation implements SlotReservation {
    private final PollingWorker desk;
    private final TypeVersion type;

    /** Guarded by the gate's lock. */
    private boolean open = true;

    Reservation(PollingWorker desk, TypeVersion type) {
      this.desk = desk;
      this.type = type;
    }

    @Override
    public WorkerId worker() {
      return desk.worker;
    }

    @Override
    public long leaseMs() {
      return gates.config().firstLease().toMillis();
    }

    @Override
    public void started(StartRun run, Instant createdAt) {
      Task task =
          new Task(
              new Claim(run.runId(), 1),
              run.request().workflowType(),
              run.request().version(),
              1,
              run.request().input().isEmpty() ? null : run.request().input(),
              0,
              List.of(),
              false,
              run.request().externalId(),
              createdAt,
              run.expiresMs(createdAt),
              stepTimeoutMs(run));
      lock.lock();
      try {
        if (!open) {
          return;
        }
        open = false;
        desk.unreserve();
        if (hand(desk, task)) {
          gates.meter().handedOver.increment();
        }
      } finally {
        lock.unlock();
      }
      gates.dirty(TaskQueue.this);
    }

    private long stepTimeoutMs(StartRun run) {
      Long own = run.request().options().stepTimeoutMs();
      return own == null ? gates.rules().stepTimeoutMs() : own;
    }

    @Override
    public void notStarted() {
      lock.lock();
      try {
        if (open) {
          open = false;
          desk.unreserve();
          desk.arrived(type);
        }
      } finally {
        lock.unlock();
      }
    }
  }

  /**
   * Puts a task on its way; if its worker was dismissed meanwhile, the sweep gives it back. False
   * when it was on its way before.
   */
  private boolean hand(PollingWorker desk, Task task) {
    // A start that was repeated, and then sent again, takes the run of the first for its own.
    if (!gates.book().handed(desk.worker, task.claim(), queue)) {
      desk.arrived(task.type());
      return false;
    }
    desk.send(task);
    if (desks.get(desk.worker) != desk) {
      gates.giveBack(desk.takeAll().stream().map(Task::claim).toList());
    }
    return true;
  }

  /** Answers polls whose tasks have come. */
  void flush() {
    Later later = new Later();
    lock.lock();
    try {
      for (PollingWorker desk : desks.values()) {
        answer(desk, later);
      }
    } finally {
      lock.unlock();
    }
    later.run();
  }

  private void answer(PollingWorker desk, Later later) {
    while (desk.hasTasks() && !desk.polls.isEmpty()) {
      WaitingPoll poll = desk.polls.remove();
      List<Task> tasks = desk.takeFor(poll, gates.config().answerBytesMax());
      linger(desk, poll.request.tasksMax() + desk.takeFreed() - tasks.size());
      gates.meter().polls.increment();
      later.add(() -> poll.complete(tasks));
    }
  }

  /** A run of a type is due, now or later. */
  void due(TypeVersion type, long delayMs) {
    due(type, delayMs, Backlog::tell);
  }

  /** The same of any number of runs: nobody knows how many. */
  void someDue(TypeVersion type, long delayMs) {
    due(type, delayMs, Backlog::tellUnknown);
  }

  private void due(TypeVersion type, long delayMs, Consumer<Backlog> tell) {
    lock.lock();
    try {
      if (delayMs > 0) {
        wakeAfter(delayMs + 1);
        return;
      }
      if (backlogs.tell(type, tell) && hasWaiting()) {
        requestLook();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Anything may be due. */
  void lookAtEverything() {
    lock.lock();
    try {
      backlogs.tellUnknown();
      if (hasWaiting()) {
        requestLook();
      }
    } finally {
      lock.unlock();
    }
  }

  private boolean hasBacklog(PollingWorker desk) {
    boolean any = false;
    for (PollRequest.Wanted type : desk.typesLeft()) {
      any |= backlogs.of(type).isPossible();
    }
    return any;
  }

  private boolean hasWaiting() {
    long now = System.nanoTime();
    for (PollingWorker desk : desks.values()) {
      if (!desk.polls.isEmpty() && desk.free(now) > 0) {
        return true;
      }
    }
    return false;
  }

  private void requestLook() {
    if (lookQueued) {
      lookAgain = true;
    } else {
      lookQueued = true;
      gates.submit(this);
    }
  }

  private void wakeAfter(long delayMs) {
    long at = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Math.min(delayMs, 3_600_000));
    if (timer != null && !timer.isDone()) {
      if (timerNanos - at <= 0) {
        return;
      }
      timer.cancel(false);
    }
    timerNanos = at;
    timer =
        gates
            .timer()
            .schedule(this::lookAtEverything, at - System.nanoTime(), TimeUnit.NANOSECONDS);
  }

  // ---- looking: prepare under the lock, ask without it, hand out under it again

  private record GroupKey(List<PollRequest.Wanted> types, @Nullable WorkerId apart) {}

  List<ClaimGroup> beginLook() {
    lock.lock();
    try {
      lastLookNanos = System.nanoTime();
      lookAgain = false;
      retries = false;
      Map<GroupKey, ClaimGroup> groups = new LinkedHashMap<>();
      for (PollingWorker desk : desks.values()) {
        if (!desk.polls.isEmpty() && desk.free(lastLookNanos) > 0 && hasBacklog(desk)) {
          // Limits are a worker's own: its slots cannot be filled with a neighbour's share.
          boolean apart = desk.hasTypeLimits() || !desk.limits.isNone();
          groups
              .computeIfAbsent(
                  new GroupKey(desk.types(), apart ? desk.worker : null),
                  key -> new ClaimGroup(apart ? desk.typesLeft() : desk.types(), desk.limits))
              .add(desk);
        }
      }
      groups.values().forEach(group -> group.takeSlots(backlogs, lastLookNanos));
      return groups.values().stream().filter(group -> !group.slots().isEmpty()).toList();
    } finally {
      lock.unlock();
    }
  }

  /** Hands out what a look found; with {@code isCut} there is more than it took. */
  void found(ClaimGroup group, List<ClaimRuns.Claimed> claimed, boolean isCut) {
    lock.lock();
    try {
      group.freeSlots();
      for (ClaimRuns.Claimed run : claimed) {
        PollingWorker desk = group.desk(run.worker());
        desk.sent(run.task().type());
        hand(desk, run.task());
      }
      if (isCut) {
        // What was left is due, and no event announces it a second time. A worker with limits would
        // wait for the fallback: the end of this look asks for no other on its behalf.
        group.doubt(backlogs);
        requestLook();
      } else if (claimed.size() < group.slots().size()) {
        group.drained(backlogs, claimed);
        lastShortNanos = lastLookNanos;
      } else if (lastLookNanos - lastShortNanos > gates.config().fallbackLook().toNanos()) {
        // For long every look found what it went for: whether there is more, nobody has seen.
        group.doubt(backlogs);
      }
    } finally {
      lock.unlock();
    }
  }

  /** The database did not answer: the slots are free again, and the look is due again. */
  void failed(ClaimGroup group) {
    lock.lock();
    try {
      group.freeSlots();
      backlogs.tellUnknown();
      retryLater();
    } finally {
      lock.unlock();
    }
  }

  /** The same after a short look: what is due of the types that it asked for has all been taken. */
  void nextDue(ClaimGroup group, ClaimRuns.NextDue next) {
    lock.lock();
    try {
      if (!next.isOverdue()) {
        for (PollRequest.Wanted type : group.types()) {
          backlogs.of(type).takenBelow(next.nowUs() - LATE_US_MAX);
        }
      }
    } finally {
      lock.unlock();
    }
    nextDue(next);
  }

  /** Sets the timer by what the database says of the next due run. */
  void nextDue(ClaimRuns.NextDue next) {
    lock.lock();
    try {
      if (next.isOverdue()) {
        // Due, and yet not taken: somebody else has it locked at the moment.
        retryLater();
        return;
      }
      if (next.dueMs() != null) {
        wakeAfter(next.dueMs());
      }
    } finally {
      lock.unlock();
    }
  }

  private void retryLater() {
    retries = true;
    wakeAfter(retryMs);
    retryMs = Math.min(RETRY_MS_MAX, retryMs * 2);
  }

  void endLook() {
    lock.lock();
    try {
      lookQueued = false;
      if (!retries) {
        // Only once no group has something to retry: one that finds all in order must not make the
        // gate look again and again on behalf of one whose run is locked, or beyond its limit.
        retryMs = RETRY_MS_FIRST;
      }
      boolean again = lookAgain;
      for (PollingWorker desk : desks.values()) {
        again |=
            !desk.polls.isEmpty()
                && desk.free(lastLookNanos) > 0
                && desk.limits.isNone()
                && hasBacklog(desk);
      }
      if (again) {
        requestLook();
      }
    } finally {
      lock.unlock();
    }
    flush();
  }

  /** There is nothing to look for until somebody says so. */
  void rest() {
    lock.lock();
    try {
      lookQueued = false;
      if (lookAgain) {
        lookAgain = false;
        requestLook();
      }
    } finally {
      lock.unlock();
    }
    flush();
  }

  /** What is on its way to workers goes back; what is due is looked for anew. */
  void giveBackAll() {
    Later later = new Later();
    lock.lock();
    try {
      desks.values().forEach(desk -> giveBack(desk, later));
      backlogs.tellUnknown();
    } finally {
      lock.unlock();
    }
    later.run();
  }

  /** Types that waiting polls want, if the gate has been quiet for so long. */
  List<PollRequest.Wanted> quietFor(long nanos) {
    lock.lock();
    try {
      if (lookQueued || System.nanoTime() - lastLookNanos < nanos || !hasWaiting()) {
        return List.of();
      }
      lastLookNanos = System.nanoTime();
      Map<TypeVersion, PollRequest.Wanted> all = new LinkedHashMap<>();
      for (PollingWorker desk : desks.values()) {
        if (!desk.polls.isEmpty()) {
          desk.types().forEach(type -> all.put(new TypeVersion(type.type(), type.version()), type));
        }
      }
      return List.copyOf(all.values());
    } finally {
      lock.unlock();
    }
  }

  /** The worker takes no more work: its polls end, what is on its way to it goes to others. */
  void dismiss(WorkerId worker) {
    Later later = new Later();
    lock.lock();
    try {
      PollingWorker desk = desks.remove(worker);
      if (desk != null) {
        desk.polls.forEach(poll -> later.add(() -> poll.complete(List.of())));
        giveBack(desk, later);
      }
    } finally {
      lock.unlock();
    }
    later.run();
  }

  /** A worker has ended a claim: a slot of it is free, or will be before it gets the next task. */
  void freed(WorkerId worker) {
    lock.lock();
    try {
      PollingWorker desk = desks.get(worker);
      if (desk != null) {
        desk.freed();
        if (desk.limits.isNone()) {
          return;
        }
        backlogs.tellUnknown();
        if (hasWaiting()) {
          requestLook();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Gives back what nobody came for, and forgets workers that left. True when nobody is left. */
  boolean sweep() {
    Later later = new Later();
    boolean empty;
    long now = System.nanoTime();
    lock.lock();
    try {
      Iterator<PollingWorker> all = desks.values().iterator();
      while (all.hasNext()) {
        PollingWorker desk = all.next();
        if (desk.isGone(now)) {
          giveBack(desk, later);
        }
        if (desk.isIdle(now)) {
          all.remove();
        }
      }
      empty = desks.isEmpty() && !lookQueued && entering == 0;
      if (empty && timer != null) {
        timer.cancel(false);
      }
    } finally {
      lock.unlock();
    }
    later.run();
    return empty;
  }

  private void giveBack(PollingWorker desk, Later later) {
    List<Claim> claims = desk.takeAll().stream().map(Task::claim).toList();
    if (!claims.isEmpty()) {
      later.add(() -> gates.giveBack(claims));
    }
  }

  /** Ends every poll. */
  void close() {
    for (WorkerId worker : workers()) {
      dismiss(worker);
    }
  }

  private List<WorkerId> workers() {
    lock.lock();
    try {
      return List.copyOf(desks.keySet());
    } finally {
      lock.unlock();
    }
  }
}
