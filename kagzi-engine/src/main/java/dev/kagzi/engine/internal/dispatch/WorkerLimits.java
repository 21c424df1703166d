package dev.kagzi.engine.internal.dispatch;

import dev.kagzi.engine.dispatch.PollRequest;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How many runs a worker may hold at once, from its registration. The server enforces it for
 * clients that poll for one task at a time. A worker that polls in batches sends its free slots
 * instead.
 *
 * @param served the types that the worker registered: runs of all of them count for {@code all}
 */
public record WorkerLimits(
    @Nullable Integer all, Map<String, Integer> byType, List<PollRequest.Wanted> served) {
  public static final WorkerLimits NONE = new WorkerLimits(null, Map.of(), List.of());

  public WorkerLimits {
    byType = Map.copyOf(byType);
    served = List.copyOf(served);
  }

  boolean isNone() {
    return all == null && byType.isEmpty();
  }
}
