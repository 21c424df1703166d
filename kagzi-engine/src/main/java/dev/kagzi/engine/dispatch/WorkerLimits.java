package dev.kagzi.engine.dispatch;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How many runs a worker may hold at once, by its registration. Kept by the server for clients that
 * poll task by task; a worker that polls in batches says with each poll how much it takes.
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
