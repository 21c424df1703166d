package dev.kagzi.engine.query;

import dev.kagzi.engine.value.RunStatus;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The numbers of one namespace, or of all.
 *
 * @param byStatus runs of each status; the statuses of templates are not among them
 * @param byType runs of each type, the largest first; only so many types
 * @param workers registrations that are not forgotten yet
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

  /** Runs of a status. */
  public long runs(RunStatus status) {
    return byStatus.getOrDefault(status, 0L);
  }

  /** All runs. */
  public long runs() {
    return byStatus.values().stream().mapToLong(Long::longValue).sum();
  }
}
