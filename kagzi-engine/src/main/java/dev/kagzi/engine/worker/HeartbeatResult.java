package dev.kagzi.engine.worker;

import dev.kagzi.engine.value.Claim;
import java.util.List;

/**
 * The answer to a heartbeat.
 *
 * @param lost listed claims that the worker no longer holds
 * @param cancelled listed claims whose runs were cancelled
 * @param cancelRequested listed claims whose runs should clean up; repeated until the claim ends,
 *     because the worker may not know it yet
 */
public record HeartbeatResult(
    boolean shouldDrain, List<Claim> lost, List<Claim> cancelled, List<Claim> cancelRequested) {
  public HeartbeatResult {
    lost = List.copyOf(lost);
    cancelled = List.copyOf(cancelled);
    cancelRequested = List.copyOf(cancelRequested);
  }
}
