package dev.kagzi.engine.worker;

import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.WorkerId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A worker's sign of life.
 *
 * @param claims what it is executing; null from a client that does not say: all that it holds is
 *     renewed
 * @param activeCount how many runs it executes; null when it does not say
 * @param namespace whose worker it must be; null for any
 * @param completedTotal instead of the delta, since the registration; 0 when it does not say
 * @param failedTotal the same for runs that failed
 */
public record WorkerHeartbeat(
    WorkerId workerId,
    @Nullable List<Claim> claims,
    @Nullable Integer activeCount,
    int completedDelta,
    int failedDelta,
    @Nullable String namespace,
    long completedTotal,
    long failedTotal) {

  /** A beat that does not say whose it is. */
  public WorkerHeartbeat(
      WorkerId workerId,
      @Nullable List<Claim> claims,
      @Nullable Integer activeCount,
      int completedDelta,
      int failedDelta) {
    this(workerId, claims, activeCount, completedDelta, failedDelta, null, 0, 0);
  }

  public WorkerHeartbeat {
    claims = claims == null ? null : List.copyOf(claims);
  }
}
