package dev.kagzi.engine.internal.dispatch;

import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.memory.ByteBudget;
import dev.kagzi.engine.metrics.QueueMetrics;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state of one task queue on this server: workers with waiting polls and free slots, tasks for
 * them, and for each type how many due runs may be unclaimed (its backlog). A run that starts gets
 * a free slot directly, without a claim query, if the backlog of its type leaves one.
 *
 * <p>Thread-safe: each method holds this object's monitor. It returns as {@link QueueEffects} what
 * must be done without the monitor.
 *
 * <p>A claim round goes through {@link #beginClaimRound}, for each group {@link #claimed} or {@link
 * #claimNotMade}, and {@link #endClaimRound}. After a group that claimed fewer runs than it had
 * slots, {@link #nextDue} follows. In a disabled namespace, a round consists of {@link
 * #skipClaimRound} only; without a connection, of {@link #endClaimRound} only. A queue has at most
 * one claim round at a time.
 */
final class TaskQueue {
  private static final long RETRY_MS_FIRST = 20;
  private static final long RETRY_MS_MAX = 1_000;

  // A run becomes visible when its transaction commits, usually at most this long after its due
  // time. The fallback, which ignores the low-water mark, finds later ones.
  private static final long LATE_US_MAX = 15_000_000;

  private final QueueName name;
  private final DispatchConfig config;
  private final ByteBudget taskBytes;
  private final QueueMetrics metrics;
  private final PollingWorkers workers = new PollingWorkers();
  private final Backlogs backlogs = new Backlogs();
  private final FallbackTimer fallback;
  private boolean claimRequested;
  private boolean claimAgain;
  private boolean retryNeeded;

  private long retryMs = RETRY_MS_FIRST;
  private long lastCheckNanos = System.nanoTime();
  private long lastShortClaimNanos = System.nanoTime();

  /**
   * Creates a queue without polls.
   *
   * @param taskBytes counts the bytes of tasks that wait for polls
   */
  TaskQueue(QueueName name, DispatchConfig config, ByteBudget taskBytes, QueueMetrics metrics) {
    this.name = name;
    this.config = config;
    this.taskBytes = taskBytes;
    this.metrics = metrics;
    this.fallback = new FallbackTimer(config.fallbackInterval());
  }

  QueueName name() {
    return name;
  }

  QueueMetrics metrics() {
    return metrics;
  }

  /** Adds a poll, and then requests a claim round. In this order, no announcement is missed. */
  synchronized QueueEffects add(WaitingPoll poll, WorkerLimits limits) {
    QueueEffects effects = new QueueEffects();
    PollingWorker worker =
        workers.computeIfAbsent(
            poll.request(), () -> new PollingWorker(poll.request(), limits, taskBytes));
    worker.addPoll(poll);
    answerPolls(worker, effects);
    if (worker.polls.contains(poll) && mayHaveBacklog(worker)) {
      requestClaim(effects);
    }
    return effects;
  }

  /** Ends a poll whose wait time is over. Keeps its slots: the worker is about to poll again. */
  synchronized QueueEffects timeOut(WaitingPoll poll) {
    QueueEffects effects = new QueueEffects();
    PollingWorker worker = remove(poll, effects);
    if (worker != null) {
      keepSlots(worker, poll.request().tasksMax() + worker.takeFreedSlots());
    }
    return effects;
  }

  /**
   * Ends a poll whose caller is gone. If it was the worker's last poll, a sweep releases its tasks.
   */
  synchronized QueueEffects cancel(WaitingPoll poll) {
    QueueEffects effects = new QueueEffects();
    PollingWorker worker = remove(poll, effects);
    if (worker != null) {
      worker.keepSlots(0, System.nanoTime());
    }
    return effects;
  }

  private @Nullable PollingWorker remove(WaitingPoll poll, QueueEffects effects) {
    PollingWorker worker = workers.of(poll.request());
    if (worker == null || !worker.polls.remove(poll)) {
      return null;
    }
    effects.answer(poll, List.of());
    return worker;
  }

  private void keepSlots(PollingWorker worker, int slots) {
    worker.keepSlots(slots, System.nanoTime() + config.keepSlots().toNanos());
  }

  synchronized QueueEffects answerPolls() {
    QueueEffects effects = new QueueEffects();
    answerPolls(effects);
    return effects;
  }

  private void answerPolls(QueueEffects effects) {
    workers.forEach(worker -> answerPolls(worker, effects));
  }

  private void answerPolls(PollingWorker worker, QueueEffects effects) {
    while (worker.hasTasks() && worker.isWaiting()) {
      WaitingPoll poll = worker.polls.remove();
      List<Task> tasks = worker.removeTasksFor(poll, config.answerBytesMax());
      keepSlots(worker, poll.request().tasksMax() + worker.takeFreedSlots() - tasks.size());
      effects.answer(poll, tasks);
    }
  }

  /**
   * Reserves a free slot for a run that is about to start. Returns null if there is none, if an
   * older run may need it, or if waiting tasks use up their memory. {@link #fillSlot} or {@link
   * #freeSlot} ends the reservation.
   */
  synchronized @Nullable PollingWorker reserveSlot(TypeVersion type) {
    if (taskBytes.free() == 0) {
      return null;
    }
    long now = System.nanoTime();
    PollingWorker best = null;
    for (PollingWorker worker : workers) {
      TypeVersion as = worker.limits.isNone() ? worker.acceptedAs(type) : null;
      if (as != null
          && worker.hasFreeSlot(as, now)
          && hasSlotBesidesBacklog(worker, backlogs.of(as), now)
          && (best == null || isBetter(worker, best, now))) {
        best = worker;
      }
    }
    if (best != null) {
      best.reserve(type);
    }
    return best;
  }

  synchronized long cleanUpMs(PollingWorker worker, TypeVersion type) {
    return worker.cleanUpMs(type);
  }

  /** Older runs have priority: each of them needs a slot besides the one for the new run. */
  private static boolean hasSlotBesidesBacklog(PollingWorker worker, Backlog backlog, long now) {
    return backlog.isBounded() && worker.freeSlots(now) > backlog.runsMax();
  }

  /** Prefers a worker whose poll waits, then the one with more free slots. */
  private static boolean isBetter(PollingWorker worker, PollingWorker than, long now) {
    return worker.isWaiting() == than.isWaiting()
        ? worker.freeSlots(now) > than.freeSlots(now)
        : worker.isWaiting();
  }

  /** Uses a reserved slot for its task. {@link #answerPolls()} delivers the task. */
  synchronized QueueEffects fillSlot(PollingWorker worker, Task task) {
    QueueEffects effects = new QueueEffects();
    worker.unreserve();
    addTask(worker, task, effects);
    return effects;
  }

  synchronized void freeSlot(PollingWorker worker, TypeVersion type) {
    worker.unreserve();
    worker.noLongerUndelivered(type);
  }

  private void addTask(PollingWorker worker, Task task, QueueEffects effects) {
    worker.addTask(task);
    if (!workers.contains(worker)) {
      // The worker left between reservation and task.
      effects.release(worker.removeTasks());
    }
  }

  /** At most this many runs of the type are due after the delay; 0: an unknown number. */
  synchronized QueueEffects runsDue(TypeVersion type, long delayMs, int runsMax) {
    QueueEffects effects = new QueueEffects();
    if (delayMs > 0) {
      effects.wakeUpIn(delayMs + 1);
    } else if (backlogs.announce(type, runsMax) && hasWaitingSlot()) {
      requestClaim(effects);
    }
    return effects;
  }

  /**
   * Whether workers of the type have a free slot for every due run that they may claim, with the
   * slots that are kept until their next poll. Then no other server needs to claim these runs.
   */
  synchronized boolean coversBacklog(TypeVersion type) {
    long now = System.nanoTime();
    long free = 0;
    long runs = 0;
    for (PollingWorker worker : workers) {
      if (worker.freeSlots(now) > 0
          && worker.limits.isNone()
          && !worker.hasTypeLimits()
          && worker.acceptedAs(type) != null) {
        free += worker.freeSlots(now);
        runs = Math.max(runs, backlogs.runsMax(worker.types()));
      }
    }
    return free > 0 && free >= runs && taskBytes.free() > 0;
  }

  synchronized QueueEffects checkEverything() {
    QueueEffects effects = new QueueEffects();
    backlogs.announceUnknown();
    if (hasWaitingSlot()) {
      requestClaim(effects);
    }
    return effects;
  }

  /** Like {@link #checkEverything()}; the next claim queries begin no later than at this time. */
  synchronized QueueEffects checkFrom(long us) {
    backlogs.lowerLowUs(us);
    return checkEverything();
  }

  /**
   * The due time at which claim queries of the type begin; no unclaimed run is expected below it.
   * Without it, each query would scan the index entries of ended runs that an old snapshot keeps
   * alive.
   */
  synchronized long lowUs(PollRequest.Wanted type) {
    return backlogs.lowUs(type);
  }

  private boolean mayHaveBacklog(PollingWorker worker) {
    boolean any = false;
    for (PollRequest.Wanted type : worker.typesLeft()) {
      // No early exit: reading a backlog creates it, and only existing ones get announcements.
      any |= backlogs.of(type).isPossible();
    }
    return any;
  }

  private boolean hasWaitingSlot() {
    long now = System.nanoTime();
    for (PollingWorker worker : workers) {
      if (hasWaitingSlot(worker, now)) {
        return true;
      }
    }
    return false;
  }

  private static boolean hasWaitingSlot(PollingWorker worker, long now) {
    return worker.isWaiting() && worker.freeSlots(now) > 0;
  }

  private void requestClaim(QueueEffects effects) {
    if (claimRequested) {
      claimAgain = true;
    } else {
      claimRequested = true;
      effects.requestClaim();
    }
  }

  /** Begins the claim round that was requested. Returns the groups to claim runs for. */
  synchronized List<ClaimGroup> beginClaimRound() {
    lastCheckNanos = System.nanoTime();
    fallback.claimBegun();
    claimAgain = false;
    retryNeeded = false;
    List<PollingWorker> ready = new ArrayList<>();
    for (PollingWorker worker : workers) {
      if (hasWaitingSlot(worker, lastCheckNanos) && mayHaveBacklog(worker)) {
        ready.add(worker);
      }
    }
    List<ClaimGroup> groups = ClaimGroup.of(ready);
    groups.forEach(group -> group.reserveSlots(backlogs, lastCheckNanos));
    return groups.stream().filter(group -> !group.slots().isEmpty()).toList();
  }

  /**
   * Adds the tasks of the claimed runs; {@link #endClaimRound} answers the polls.
   *
   * @param isCut the query may have left due runs behind
   */
  synchronized QueueEffects claimed(ClaimGroup group, List<ClaimedRun> claimed, boolean isCut) {
    QueueEffects effects = new QueueEffects();
    group.releaseSlots(backlogs);
    for (ClaimedRun run : claimed) {
      PollingWorker worker = group.worker(run.worker());
      worker.addUndelivered(run.task().type());
      addTask(worker, run.task(), effects);
    }
    if (isCut) {
      // No event announces the remaining runs again, and endClaimRound ignores workers with limits.
      group.mayBeMore(backlogs);
      requestClaim(effects);
    } else if (claimed.size() < group.slots().size()) {
      group.drained(backlogs, claimed);
      lastShortClaimNanos = lastCheckNanos;
    } else if (lastCheckNanos - lastShortClaimNanos > config.fallbackInterval().toNanos()) {
      // Every recent query filled all its slots: none has shown whether more runs are due.
      group.mayBeMore(backlogs);
    }
    return effects;
  }

  synchronized QueueEffects claimNotMade(ClaimGroup group) {
    QueueEffects effects = new QueueEffects();
    group.releaseSlots(backlogs);
    backlogs.announceUnknown();
    retryLater(effects);
    return effects;
  }

  /** The group's query claimed fewer runs than it had slots; {@code next} was read after it. */
  synchronized QueueEffects nextDue(ClaimGroup group, NextDue next) {
    if (!next.isDue()) {
      for (PollRequest.Wanted type : group.types()) {
        backlogs.of(type).setLowUs(next.nowUs() - LATE_US_MAX);
      }
    }
    return nextDue(next);
  }

  synchronized QueueEffects nextDue(NextDue next) {
    QueueEffects effects = new QueueEffects();
    if (next.isDue()) {
      // A run is due but was not claimed: it is locked, a limit applies, or it has just become due.
      retryLater(effects);
    } else if (next.dueMs() != null) {
      effects.wakeUpIn(next.dueMs());
    }
    return effects;
  }

  private void retryLater(QueueEffects effects) {
    retryNeeded = true;
    effects.wakeUpIn(retryMs);
    retryMs = Math.min(RETRY_MS_MAX, retryMs * 2);
  }

  /** Ends a claim round: answers polls, and requests the next round if more runs may be due. */
  synchronized QueueEffects endClaimRound() {
    QueueEffects effects = new QueueEffects();
    claimRequested = false;
    if (!retryNeeded) {
      // Reset the back-off only if no group needs a retry. Otherwise a group that succeeds would
      // reset it in every round, and a group whose run is locked or whose worker is at its limit
      // would be retried without delay.
      retryMs = RETRY_MS_FIRST;
    }
    boolean again = claimAgain;
    for (PollingWorker worker : workers) {
      again |=
          hasWaitingSlot(worker, lastCheckNanos)
              && worker.limits.isNone()
              && mayHaveBacklog(worker);
    }
    if (again) {
      requestClaim(effects);
    }
    answerPolls(effects);
    return effects;
  }

  /** Ends a claim round that did not begin because the namespace is disabled. */
  synchronized QueueEffects skipClaimRound() {
    QueueEffects effects = new QueueEffects();
    claimRequested = false;
    if (claimAgain) {
      claimAgain = false;
      requestClaim(effects);
    }
    answerPolls(effects);
    return effects;
  }

  /** Whether the fallback checks this queue together with the other idle ones. */
  synchronized boolean isIdle() {
    return fallback.isIdle();
  }

  /**
   * Returns whether the fallback must check this queue for due runs: because the queue is quiet, or
   * because the last check was long ago. Then both times start again. A busy queue needs checks,
   * too, because its claim queries ignore runs below the low-water marks.
   */
  synchronized boolean requestFallback() {
    boolean isOverdue = fallback.request(System.nanoTime());
    return !takeTypesIfQuietFor(config.fallbackInterval().toNanos()).isEmpty() || isOverdue;
  }

  synchronized void fallbackEnded(long tookNanos, boolean succeeded) {
    fallback.ended(System.nanoTime(), tookNanos, succeeded);
  }

  synchronized List<PollRequest.Wanted> typesNotClaimed() {
    return backlogs.notClaimed();
  }

  synchronized long notClaimedUntilUs(PollRequest.Wanted type) {
    return backlogs.notClaimedUntilUs(type);
  }

  /**
   * Returns the types of waiting polls if a free slot waits, no claim round is requested, and none
   * has begun for this long; otherwise none. The time starts again when types are returned.
   */
  synchronized List<PollRequest.Wanted> takeTypesIfQuietFor(long nanos) {
    if (claimRequested || System.nanoTime() - lastCheckNanos < nanos || !hasWaitingSlot()) {
      return List.of();
    }
    lastCheckNanos = System.nanoTime();
    return workers.waitingTypes();
  }

  /** A claim of the worker has ended: it has one more free slot. */
  synchronized QueueEffects slotFreed(WorkerId workerId) {
    List<PollingWorker> present = workers.of(workerId);
    if (present.size() == 1) { // Otherwise unknown whose slot it is. Its next poll has it.
      present.getFirst().slotFreed();
    }
    boolean hasLimits = !present.isEmpty() && !present.getFirst().limits.isNone();
    return hasLimits ? checkEverything() : new QueueEffects();
  }

  synchronized QueueEffects removeWorker(WorkerId workerId) {
    QueueEffects effects = new QueueEffects();
    List.copyOf(workers.of(workerId)).forEach(worker -> end(worker, effects));
    return effects;
  }

  synchronized QueueEffects removeWorkers() {
    QueueEffects effects = new QueueEffects();
    workers.copy().forEach(worker -> end(worker, effects));
    return effects;
  }

  private void end(PollingWorker worker, QueueEffects effects) {
    workers.remove(worker);
    worker.polls.forEach(poll -> effects.answer(poll, List.of()));
    effects.release(worker.removeTasks());
  }

  /** Releases the tasks of all workers; their polls keep waiting. */
  synchronized QueueEffects releaseTasks() {
    QueueEffects effects = new QueueEffects();
    workers.forEach(worker -> effects.release(worker.removeTasks()));
    backlogs.announceUnknown();
    return effects;
  }

  /** Releases the tasks of workers that did not poll again, and forgets these workers. */
  synchronized QueueEffects sweep() {
    QueueEffects effects = new QueueEffects();
    long now = System.nanoTime();
    for (PollingWorker worker : workers.copy()) {
      if (worker.isGone(now)) {
        effects.release(worker.removeTasks());
      }
      if (worker.isRemovable(now)) {
        workers.remove(worker);
      }
    }
    return effects;
  }

  synchronized boolean isUnused() {
    return workers.isEmpty() && !claimRequested;
  }
}
