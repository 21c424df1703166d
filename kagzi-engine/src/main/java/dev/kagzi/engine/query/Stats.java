package dev.kagzi.engine.query;

import dev.kagzi.engine.value.RunStatus;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Statistics of one namespace, or of all.
 *
 * @param byStatus runs of each status, without templates of schedules
 * @param byType runs of each type, largest first; the number of types is limited
 * @param workers registrations that are not purged yet
 */
public record Stats(
    Map<RunStatus, Long> byStatus,
    Map<String, Long> byType,
    long workers,
    long workersOnline,
    long schedules,
    long schedulesEnabled) {

  public Stats {
    byStatus = Collections.unmodifiableMap(new EnumMap<>(byStatus));
    byType = Collections.unmodifiableMap(new LinkedHashMap<>(byType));
  }

  public long runs(RunStatus status) {
    return byStatus.getOrDefault(status, 0L);
  }

  public long runs() {
    return byStatus.values().stream().mapToLong(Long::longValue).sum();
  }
}
