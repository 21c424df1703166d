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
 */
public record Heartbeat(
    WorkerId workerId,
    @Nullable List<Claim> claims,
    @Nullable Integer activeCount,
    int completedDelta,
    int failedDelta) {

  public Heartbeat {
    claims = claims == null ? null : List.copyOf(claims);
  }
}
