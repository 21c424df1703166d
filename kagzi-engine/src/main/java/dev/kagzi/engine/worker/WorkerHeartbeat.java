package dev.kagzi.engine.worker;

import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.WorkerId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A heartbeat of a worker.
 *
 * @param claims the claims it executes; null from a client that does not list them: then all its
 *     claims are renewed, but claims about which it has made no call yet only for a limited time
 * @param activeCount how many runs it executes; null if not reported
 * @param namespace the namespace that the worker must belong to; null for any
 * @param completedTotal runs completed since the registration, instead of the delta; 0 if not
 *     reported
 * @param failedTotal runs failed since the registration, instead of the delta; 0 if not reported
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

  public WorkerHeartbeat {
    claims = claims == null ? null : List.copyOf(claims);
  }
}
