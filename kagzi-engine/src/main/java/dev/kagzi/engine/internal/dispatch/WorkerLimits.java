package dev.kagzi.engine.internal.dispatch;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How many runs a worker may hold at once, from its registration. The server enforces it for
 * clients that poll for one task at a time. A worker that polls in batches sends its free slots
 * instead.
 */
public record WorkerLimits(@Nullable Integer all, Map<String, Integer> byType) {
  public static final WorkerLimits NONE = new WorkerLimits(null, Map.of());

  public WorkerLimits {
    byType = Map.copyOf(byType);
  }

  boolean isNone() {
    return all == null && byType.isEmpty();
  }
}
