package dev.kagzi.engine.internal.worker;

import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.HeartbeatResult;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What workers learn about the claims that their heartbeats list. Not thread-safe. */
final class ClaimNews {
  private final Map<WorkerId, List<Claim>> lost = new HashMap<>();
  private final Map<WorkerId, List<Claim>> cancelled = new HashMap<>();
  private final Map<WorkerId, List<Claim>> cancelRequested = new HashMap<>();

  /** The worker no longer holds the claim; the status is null if there is no such run. */
  void gone(WorkerId worker, Claim claim, @Nullable RunStatus status) {
    add(status == RunStatus.CANCELLED ? cancelled : lost, worker, claim);
  }

  void cancelRequested(WorkerId worker, Claim claim) {
    add(cancelRequested, worker, claim);
  }

  private static void add(Map<WorkerId, List<Claim>> to, WorkerId worker, Claim claim) {
    to.computeIfAbsent(worker, id -> new ArrayList<>()).add(claim);
  }

  HeartbeatResult result(WorkerId worker, boolean shouldDrain) {
    return new HeartbeatResult(
        shouldDrain,
        lost.getOrDefault(worker, List.of()),
        cancelled.getOrDefault(worker, List.of()),
        cancelRequested.getOrDefault(worker, List.of()));
  }
}
