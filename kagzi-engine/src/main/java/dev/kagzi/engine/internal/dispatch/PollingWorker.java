package dev.kagzi.engine.internal.dispatch;

import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.memory.ByteBudget;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One worker of a {@link TaskQueue}: its waiting polls, its free slots, and tasks that wait for its
 * next poll. A simple client that polls for several sets of types has one object for each. Free
 * slots are kept for a moment after a poll ends, because the worker is about to poll again. Without
 * that, each run that starts between two polls would cost a claim query. Guarded by the queue's
 * lock, except {@link #workerId} and {@link #limits}.
 */
final class PollingWorker {
  final WorkerId workerId;
  final WorkerLimits limits;
  final Deque<WaitingPoll> polls = new ArrayDeque<>();
  private final Deque<Task> tasks = new ArrayDeque<>();
  private final ByteBudget taskBytes;
  private final boolean isSimple;
  private List<PollRequest.Wanted> types;
  private final Map<TypeVersion, Integer> typeSlotsLeft = new HashMap<>();

  /** Tasks and slot reservations that the limits in the worker's polls do not count yet. */
  private final Map<TypeVersion, Integer> undelivered = new HashMap<>();

  private int keptSlots;
  private long keptUntilNanos;
  private int reservedSlots;
  private int claimingSlots;
  private int freedSlots;

  PollingWorker(PollRequest first, WorkerLimits limits, ByteBudget taskBytes) {
    this.workerId = first.workerId();
    this.isSimple = first.isSimple();
    this.types = first.types();
    this.limits = limits;
    this.taskBytes = taskBytes;
  }

  /** Whether this object has the polls of the worker that are like this one. */
  boolean isFor(PollRequest request) {
    return isSimple == request.isSimple() && (!isSimple || types.equals(request.types()));
  }

  boolean isWaiting() {
    return !polls.isEmpty();
  }

  boolean hasTasks() {
    return !tasks.isEmpty();
  }

  void addTask(Task task) {
    tasks.add(task);
    taskBytes.add(task.bytes());
  }

  private Task removeTask() {
    Task task = tasks.remove();
    taskBytes.release(task.bytes());
    noLongerUndelivered(task.type());
    return task;
  }

  void addPoll(WaitingPoll poll) {
    types = poll.request().types();
    polls.add(poll);
    freedSlots = 0;
    typeSlotsLeft.clear();
    for (PollRequest.Wanted type : types) {
      if (type.tasksMax() > 0) {
        typeSlotsLeft.put(type.typeVersion(), type.tasksMax() - undelivered(type));
      }
    }
  }

  private int undelivered(PollRequest.Wanted type) {
    int sum = 0;
    for (Map.Entry<TypeVersion, Integer> each : undelivered.entrySet()) {
      sum += accepts(type, each.getKey()) ? each.getValue() : 0;
    }
    return sum;
  }

  private static boolean accepts(PollRequest.Wanted type, TypeVersion run) {
    return type.type().equals(run.type())
        && (type.version().equals(run.version()) || type.version().equals(PollRequest.ANY_VERSION));
  }

  List<PollRequest.Wanted> types() {
    return types;
  }

  boolean hasTypeLimits() {
    return !typeSlotsLeft.isEmpty();
  }

  /** The entry of the latest poll's types that accepts the run; null if none does. */
  @Nullable TypeVersion acceptedAs(TypeVersion run) {
    for (PollRequest.Wanted type : types) {
      if (accepts(type, run)) {
        return type.typeVersion();
      }
    }
    return null;
  }

  /** How long its code may clean up a run of this type after a cancel; 0: it does not. */
  long cleanUpMs(TypeVersion run) {
    for (PollRequest.Wanted type : types) {
      if (accepts(type, run)) {
        return type.cleanUpMs();
      }
    }
    return 0;
  }

  int freeSlots(long nowNanos) {
    return offeredSlots(nowNanos) - reservedSlots - tasks.size();
  }

  private int offeredSlots(long nowNanos) {
    if (polls.isEmpty()) {
      return nowNanos - keptUntilNanos < 0 ? keptSlots + freedSlots : 0;
    }
    int sum = freedSlots;
    for (WaitingPoll poll : polls) {
      sum += poll.request().tasksMax();
    }
    return sum;
  }

  /**
   * Whether a run that starts may have a slot. If the type has a limit, the answer is no while a
   * claim query is in flight, because what is left of the limit is unknown then.
   */
  boolean hasFreeSlot(TypeVersion acceptedAs, long nowNanos) {
    Integer left = typeSlotsLeft.get(acceptedAs);
    return freeSlots(nowNanos) > 0 && (left == null || (left > 0 && claimingSlots == 0));
  }

  /** Returns the types below their limit, each with its remaining capacity (0: no limit). */
  List<PollRequest.Wanted> typesLeft() {
    List<PollRequest.Wanted> left = new ArrayList<>();
    for (PollRequest.Wanted type : types) {
      Integer limit = typeSlotsLeft.get(type.typeVersion());
      if (limit == null || limit > 0) {
        left.add(type.withTasksMax(limit == null ? 0 : limit));
      }
    }
    return left;
  }

  void reserve(TypeVersion type) {
    reservedSlots++;
    addUndelivered(type);
  }

  void unreserve() {
    reservedSlots--;
  }

  void reserveForClaim() {
    reservedSlots++;
    claimingSlots++;
  }

  void unreserveForClaim() {
    reservedSlots--;
    claimingSlots--;
  }

  /** Counts a task against the limit of its type, before a poll delivers it to the worker. */
  void addUndelivered(TypeVersion type) {
    undelivered.merge(type, 1, Integer::sum);
    TypeVersion as = acceptedAs(type);
    if (as != null) {
      typeSlotsLeft.computeIfPresent(as, (key, left) -> left - 1);
    }
  }

  /**
   * Call when the task was delivered or released, or the reserved run was not started. Does not
   * change {@code typeSlotsLeft}; the next {@link #addPoll} computes it.
   */
  void noLongerUndelivered(TypeVersion type) {
    undelivered.computeIfPresent(type, (key, count) -> count > 1 ? count - 1 : null);
  }

  List<Task> removeTasks() {
    List<Task> all = new ArrayList<>(tasks.size());
    while (!tasks.isEmpty()) {
      all.add(removeTask());
    }
    return all;
  }

  List<Task> removeTasksFor(WaitingPoll poll, int bytesMax) {
    List<Task> answer = new ArrayList<>();
    int bytes = 0;
    while (!tasks.isEmpty() && answer.size() < poll.request().tasksMax()) {
      int size = tasks.element().bytes();
      if (!answer.isEmpty() && bytes + size > bytesMax) {
        break;
      }
      bytes += size;
      answer.add(removeTask());
    }
    return answer;
  }

  /** A claim has ended since the last poll: the worker has one slot more than it polled for. */
  void slotFreed() {
    freedSlots++;
  }

  int takeFreedSlots() {
    int slots = freedSlots;
    freedSlots = 0;
    return slots;
  }

  /** Keeps free slots until the worker polls again, at most until the given time. */
  void keepSlots(int slots, long untilNanos) {
    keptSlots = slots;
    keptUntilNanos = untilNanos;
  }

  boolean isGone(long nowNanos) {
    return polls.isEmpty() && nowNanos - keptUntilNanos >= 0;
  }

  boolean isRemovable(long nowNanos) {
    return isGone(nowNanos) && tasks.isEmpty() && reservedSlots == 0;
  }
}
