package dev.kagzi.sdk;

import java.util.Map;

/**
 * How many runs, workers and schedules a namespace has. Runs are counted until they are purged.
 *
 * @param runsByStatus the runs of each status; a status without runs has 0
 * @param runsByType the runs of each type; if there are more than 1,000 types, only the 1,000 with
 *     the most runs
 * @param workers registrations, also of workers that are offline, until they are purged
 */
public record NamespaceStats(
    long runs,
    Map<RunStatus, Long> runsByStatus,
    Map<String, Long> runsByType,
    long workers,
    long onlineWorkers,
    long schedules,
    long enabledSchedules) {

  /** Copies the maps. */
  public NamespaceStats {
    runsByStatus = Map.copyOf(runsByStatus);
    runsByType = Map.copyOf(runsByType);
  }
}
