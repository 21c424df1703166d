package dev.kagzi.engine.dispatch;

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
 * One worker at a gate: its polls, its free slots, and tasks that are on their way to it. Slots
 * that a poll offered and that its answer did not use stay on offer for a moment, since the worker
 * is about to poll again: without that every start between two polls would have to be looked for.
 * Guarded by the gate's lock.
 */
final class PollingWorker {
  final WorkerId worker;
  final WorkerLimits limits;
  final Deque<WaitingPoll> polls = new ArrayDeque<>();
  private final Deque<Task> outbox = new ArrayDeque<>();
  private final ByteBudget outboxBytes;
  private List<PollRequest.Wanted> types = List.of();
  private final Map<TypeVersion, Integer> typeLeft = new HashMap<>();

  /** Tasks that are meant for the worker and that no poll has taken: it does not count them yet. */
  private final Map<TypeVersion, Integer> onTheirWay = new HashMap<>();

  private int lingerSlots;
  private long lingerEndNanos;
  private int reserved;
  private int lookedFor;
  private int freed;

  PollingWorker(WorkerId worker, WorkerLimits limits, ByteBudget outboxBytes) {
    this.worker = worker;
    this.limits = limits;
    this.outboxBytes = outboxBytes;
  }

  boolean hasTasks() {
    return !outbox.isEmpty();
  }

  void send(Task task) {
    outbox.add(task);
    outboxBytes.add(task.bytes());
  }

  private Task take() {
    Task task = outbox.remove();
    outboxBytes.release(task.bytes());
    arrived(task.type());
    return task;
  }

  void stand(WaitingPoll poll) {
    types = poll.request.types();
    polls.add(poll);
    freed = 0;
    typeLeft.clear();
    for (PollRequest.Wanted type : types) {
      if (type.tasksMax() > 0) {
        typeLeft.put(
            new TypeVersion(type.type(), type.version()), type.tasksMax() - onTheirWay(type));
      }
    }
  }

  private int onTheirWay(PollRequest.Wanted type) {
    int sum = 0;
    for (Map.Entry<TypeVersion, Integer> each : onTheirWay.entrySet()) {
      sum += serves(type, each.getKey()) ? each.getValue() : 0;
    }
    return sum;
  }

  private static boolean serves(PollRequest.Wanted type, TypeVersion wanted) {
    return type.type().equals(wanted.type())
        && (type.version().equals(wanted.version())
            || type.version().equals(PollRequest.ANY_VERSION));
  }

  List<PollRequest.Wanted> types() {
    return types;
  }

  boolean hasTypeLimits() {
    return !typeLeft.isEmpty();
  }

  /** The entry under which the desk serves the type; null when it does not. */
  @Nullable TypeVersion servedAs(TypeVersion wanted) {
    for (PollRequest.Wanted type : types) {
      if (serves(type, wanted)) {
        return new TypeVersion(type.type(), type.version());
      }
    }
    return null;
  }

  /** Slots that nothing is meant for yet. */
  int free(long nowNanos) {
    return offered(nowNanos) - reserved - outbox.size();
  }

  private int offered(long nowNanos) {
    if (polls.isEmpty()) {
      return nowNanos - lingerEndNanos < 0 ? lingerSlots + freed : 0;
    }
    int sum = freed;
    for (WaitingPoll poll : polls) {
      sum += poll.request.tasksMax();
    }
    return sum;
  }

  /** A look may be about to use up what is left of a limit: no start gets in before it is over. */
  boolean hasFree(TypeVersion as, long nowNanos) {
    Integer left = typeLeft.get(as);
    return free(nowNanos) > 0 && (left == null || (left > 0 && lookedFor == 0));
  }

  /** The types of the last poll, with what is left of their limits; those used up are out. */
  List<PollRequest.Wanted> typesLeft() {
    List<PollRequest.Wanted> left = new ArrayList<>();
    for (PollRequest.Wanted type : types) {
      Integer limit = typeLeft.get(new TypeVersion(type.type(), type.version()));
      if (limit == null || limit > 0) {
        left.add(new PollRequest.Wanted(type.type(), type.version(), limit == null ? 0 : limit));
      }
    }
    return left;
  }

  /** A slot for one run of the type. */
  void reserve(TypeVersion type) {
    reserved++;
    sent(type);
  }

  /** A task of the type is on its way. */
  void sent(TypeVersion type) {
    onTheirWay.merge(type, 1, Integer::sum);
    TypeVersion as = servedAs(type);
    if (as != null) {
      typeLeft.computeIfPresent(as, (key, left) -> left - 1);
    }
  }

  /** It has arrived; or it was not sent after all, which the next poll makes up for. */
  void arrived(TypeVersion type) {
    onTheirWay.computeIfPresent(type, (key, tasks) -> tasks > 1 ? tasks - 1 : null);
  }

  /** What is on its way is wanted back. */
  List<Task> takeAll() {
    List<Task> all = new ArrayList<>(outbox.size());
    while (!outbox.isEmpty()) {
      all.add(take());
    }
    return all;
  }

  void unreserve() {
    reserved--;
  }

  /** A slot for whatever a look finds. */
  void beginLook() {
    reserved++;
    lookedFor++;
  }

  void endLook() {
    reserved--;
    lookedFor--;
  }

  /** True when nothing ties the worker to this gate any more. */
  boolean isIdle(long nowNanos) {
    return polls.isEmpty() && outbox.isEmpty() && reserved == 0 && nowNanos - lingerEndNanos >= 0;
  }

  /** True when the tasks on their way have waited for a poll for too long. */
  boolean isGone(long nowNanos) {
    return polls.isEmpty() && nowNanos - lingerEndNanos >= 0;
  }

  /** A claim of the worker has ended since its last poll: it has one more slot than it said. */
  void freed() {
    freed++;
  }

  int takeFreed() {
    int slots = freed;
    freed = 0;
    return slots;
  }

  void linger(int slots, long endNanos) {
    lingerSlots = slots;
    lingerEndNanos = endNanos;
  }

  /** As many tasks as fit into the oldest poll's answer. */
  List<Task> takeFor(WaitingPoll poll, int bytesMax) {
    List<Task> answer = new ArrayList<>();
    int bytes = 0;
    while (!outbox.isEmpty() && answer.size() < poll.request.tasksMax()) {
      int size = outbox.element().bytes();
      if (!answer.isEmpty() && bytes + size > bytesMax) {
        break;
      }
      bytes += size;
      answer.add(take());
    }
    return answer;
  }
}
