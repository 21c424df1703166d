package dev.kagzi.engine.internal.dispatch;

import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Workers that poll for the same types, so that one query can claim runs for all of them. The query
 * gets one free slot of each worker in turn. Changed only under its queue's lock.
 */
final class ClaimGroup {
  private static final int CLAIM_MAX = 500;

  private final List<PollRequest.Wanted> types;
  private final WorkerLimits limits;
  private final Map<WorkerId, PollingWorker> workers = new LinkedHashMap<>();
  private final List<WorkerId> slots = new ArrayList<>();
  private final Map<TypeVersion, Long> announcementsBefore = new HashMap<>();
  private boolean slotsReleased;

  private record Key(List<PollRequest.Wanted> types, @Nullable PollingWorker only) {}

  /** Groups the workers. One with limits is alone: a query applies limits to a whole group. */
  static List<ClaimGroup> of(List<PollingWorker> workers) {
    Map<Key, ClaimGroup> groups = new LinkedHashMap<>();
    for (PollingWorker worker : workers) {
      boolean alone = worker.hasTypeLimits() || !worker.limits.isNone();
      groups
          .computeIfAbsent(
              new Key(worker.types(), alone ? worker : null),
              key -> new ClaimGroup(alone ? worker.typesLeft() : worker.types(), worker.limits))
          .add(worker);
    }
    return List.copyOf(groups.values());
  }

  ClaimGroup(List<PollRequest.Wanted> types, WorkerLimits limits) {
    this.types = types;
    this.limits = limits;
  }

  List<PollRequest.Wanted> types() {
    return types;
  }

  WorkerLimits limits() {
    return limits;
  }

  List<WorkerId> slots() {
    return slots;
  }

  void add(PollingWorker worker) {
    workers.put(worker.workerId, worker);
  }

  PollingWorker worker(WorkerId workerId) {
    PollingWorker worker = workers.get(workerId);
    if (worker == null) {
      throw new IllegalArgumentException(
          "worker: " + workerId + " (expected: one of " + workers.keySet() + ")");
    }
    return worker;
  }

  void reserveSlots(Backlogs backlogs, long nowNanos) {
    for (PollRequest.Wanted type : types) {
      announcementsBefore.put(type.typeVersion(), backlogs.of(type).announcements());
    }
    int max = slotsMax(backlogs);
    boolean more = true;
    while (more && slots.size() < max) {
      more = false;
      for (PollingWorker worker : workers.values()) {
        if (worker.freeSlots(nowNanos) > 0 && slots.size() < max) {
          worker.reserveForClaim();
          slots.add(worker.workerId);
          more = true;
        }
      }
    }
    int left = slots.size();
    for (PollRequest.Wanted type : types) {
      Backlog backlog = backlogs.of(type);
      left -= backlog.subtract(left);
      if (!slots.isEmpty()) {
        backlog.queryBegun();
      }
    }
  }

  private int slotsMax(Backlogs backlogs) {
    int sum = 0;
    for (PollRequest.Wanted type : types) {
      Backlog backlog = backlogs.of(type);
      if (!backlog.isBounded()) {
        return CLAIM_MAX;
      }
      sum += backlog.runsMax();
    }
    return Math.min(sum, CLAIM_MAX);
  }

  /**
   * Releases the reserved slots; a second call has no effect. There is a second call if {@link
   * ClaimLoop} fails after {@link TaskQueue#claimed}, which has already released the slots.
   */
  void releaseSlots(Backlogs backlogs) {
    if (!slotsReleased) {
      slotsReleased = true;
      types.forEach(type -> backlogs.of(type).queryEnded());
      slots.forEach(slot -> worker(slot).unreserveForClaim());
    }
  }

  void mayBeMore(Backlogs backlogs) {
    types.forEach(type -> backlogs.of(type).mayBeMore());
  }

  /**
   * The query claimed fewer runs than it had slots. If no limit applied, no other run is expected
   * to be due; {@link TaskQueue#nextDue} corrects that if there is one.
   */
  void drained(Backlogs backlogs, List<ClaimedRun> claimed) {
    for (PollRequest.Wanted type : types) {
      long count =
          claimed.stream().filter(run -> run.task().workflowType().equals(type.type())).count();
      boolean limited = type.tasksMax() > 0 && count >= type.tasksMax();
      if (limited || !limits.isNone()) {
        backlogs.of(type).mayBeMore();
      } else {
        backlogs.of(type).drained(announcementsBefore.getOrDefault(type.typeVersion(), 0L));
      }
    }
  }
}
