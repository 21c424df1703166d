package dev.kagzi.engine.dispatch;

import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Desks that want the same: one query looks for all of them, with their free slots interleaved.
 * What changes it is done under its gate's lock.
 */
final class ClaimGroup {
  private static final int CLAIM_MAX = 500;

  private final List<PollRequest.Wanted> types;
  private final WorkerLimits limits;
  private final Map<WorkerId, PollingWorker> desks = new LinkedHashMap<>();
  private final List<WorkerId> slots = new ArrayList<>();
  private final Map<TypeVersion, Long> said = new HashMap<>();
  private boolean over;

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

  /** Whose slots the look may fill, one entry for each. */
  List<WorkerId> slots() {
    return slots;
  }

  void add(PollingWorker desk) {
    desks.put(desk.worker, desk);
  }

  PollingWorker desk(WorkerId worker) {
    PollingWorker desk = desks.get(worker);
    if (desk == null) {
      throw new IllegalArgumentException(
          "worker: " + worker + " (expected: one of " + desks.keySet() + ")");
    }
    return desk;
  }

  /** Reserves slots for what may be due. */
  void takeSlots(Backlogs backlogs, long nowNanos) {
    for (PollRequest.Wanted type : types) {
      said.put(new TypeVersion(type.type(), type.version()), backlogs.of(type).said());
    }
    int most = due(backlogs);
    boolean more = true;
    while (more && slots.size() < most) {
      more = false;
      for (PollingWorker desk : desks.values()) {
        if (desk.free(nowNanos) > 0 && slots.size() < most) {
          desk.beginLook();
          slots.add(desk.worker);
          more = true;
        }
      }
    }
    int left = slots.size();
    for (PollRequest.Wanted type : types) {
      left -= backlogs.of(type).cover(left);
    }
  }

  /** How many runs the look goes for: what is known to be due, else as many as fit. */
  private int due(Backlogs backlogs) {
    int sum = 0;
    for (PollRequest.Wanted type : types) {
      Backlog backlog = backlogs.of(type);
      if (!backlog.isKnown()) {
        return CLAIM_MAX;
      }
      sum += backlog.untaken();
    }
    return Math.min(sum, CLAIM_MAX);
  }

  /** The look is over, once: what it found may be handed out before what follows it fails. */
  void freeSlots() {
    if (!over) {
      over = true;
      slots.forEach(slot -> desk(slot).endLook());
    }
  }

  /** There may be more than was told. */
  void doubt(Backlogs backlogs) {
    types.forEach(type -> backlogs.of(type).stays());
  }

  /** A short answer: nothing else is due, unless somebody has said so since. */
  void drained(Backlogs backlogs, List<ClaimRuns.Claimed> claimed) {
    for (PollRequest.Wanted type : types) {
      long count =
          claimed.stream().filter(run -> run.task().workflowType().equals(type.type())).count();
      boolean limited = type.tasksMax() > 0 && count >= type.tasksMax();
      if (limited || !limits.isNone()) {
        backlogs.of(type).stays();
      } else {
        TypeVersion key = new TypeVersion(type.type(), type.version());
        backlogs.of(type).drained(said.getOrDefault(key, 0L));
      }
    }
  }
}
