package dev.kagzi.engine.task;

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
final class Desk {
  final WorkerId worker;
  final WorkerLimits limits;
  final Deque<StandingPoll> polls = new ArrayDeque<>();
  final Deque<Task> outbox = new ArrayDeque<>();
  private List<PollRequest.Wanted> types = List.of();
  private final Map<TypeVersion, Integer> typeLeft = new HashMap<>();
  private int lingerSlots;
  private long lingerEndNanos;
  private int reserved;
  private int freed;

  Desk(WorkerId worker, WorkerLimits limits) {
    this.worker = worker;
    this.limits = limits;
  }

  void stand(StandingPoll poll) {
    types = poll.request.types();
    polls.add(poll);
    freed = 0;
    typeLeft.clear();
    for (PollRequest.Wanted type : types) {
      if (type.tasksMax() > 0) {
        typeLeft.put(new TypeVersion(type.type(), type.version()), type.tasksMax());
      }
    }
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
      if (type.type().equals(wanted.type())
          && (type.version().equals(wanted.version())
              || type.version().equals(PollRequest.ANY_VERSION))) {
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
    for (StandingPoll poll : polls) {
      sum += poll.request.tasksMax();
    }
    return sum;
  }

  boolean hasFree(TypeVersion as, long nowNanos) {
    return free(nowNanos) > 0 && typeLeft.getOrDefault(as, 1) > 0;
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

  void reserve(TypeVersion as) {
    reserved++;
    used(as);
  }

  /** One of a limited type is on its way. */
  void used(TypeVersion type) {
    typeLeft.computeIfPresent(type, (key, left) -> left - 1);
  }

  void reserve(int slots) {
    reserved += slots;
  }

  void unreserve(int slots) {
    reserved -= slots;
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
  List<Task> takeFor(StandingPoll poll, int bytesMax) {
    List<Task> answer = new ArrayList<>();
    int bytes = 0;
    while (!outbox.isEmpty() && answer.size() < poll.request.tasksMax()) {
      int size = outbox.element().bytes();
      if (!answer.isEmpty() && bytes + size > bytesMax) {
        break;
      }
      bytes += size;
      answer.add(outbox.remove());
    }
    return answer;
  }
}
