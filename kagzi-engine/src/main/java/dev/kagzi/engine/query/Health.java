package dev.kagzi.engine.query;

import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.value.WorkerStatus;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The health of the database and the workers.
 *
 * @param message why the database is unhealthy; empty when it is healthy
 * @param latencyMs response time of the database
 * @param workers dead workers whose runs wait, then workers that are not offline, oldest heartbeat
 *     first; limited to {@link #WORKERS_MAX}
 * @param workersByLevel workers by level; of dead ones at most {@link #WORKERS_MAX} are counted
 */
public record Health(
    Level database,
    String message,
    long latencyMs,
    List<Worker> workers,
    Map<Level, Long> workersByLevel) {

  static final int WORKERS_MAX = 100;

  public enum Level {
    HEALTHY,
    /** It works, but heartbeats are late. */
    DEGRADED,
    UNHEALTHY
  }

  /**
   * Limits for the age of a worker's last heartbeat.
   *
   * @param lateMs from here the worker is DEGRADED
   * @param deadMs from here the worker is UNHEALTHY: it is about to be marked offline
   */
  public record Rules(long lateMs, long deadMs) {
    Level of(long silentMs) {
      if (silentMs < lateMs) {
        return Level.HEALTHY;
      }
      return silentMs < deadMs ? Level.DEGRADED : Level.UNHEALTHY;
    }
  }

  /** A worker that is not offline, or that died and whose runs wait. */
  public record Worker(
      WorkerId id,
      String namespace,
      String taskQueue,
      WorkerStatus status,
      long silentMs,
      Level level) {}

  public Health {
    workers = List.copyOf(workers);
    workersByLevel = Map.copyOf(workersByLevel);
  }

  /** Health with a database that answers. */
  static Health of(
      long latencyMs, List<Worker> dead, List<Worker> alive, Map<Level, Long> present) {
    List<Worker> workers = Stream.concat(dead.stream(), alive.stream()).limit(WORKERS_MAX).toList();
    Map<Level, Long> levels = new EnumMap<>(present);
    levels.merge(Level.UNHEALTHY, (long) dead.size(), Long::sum);
    return new Health(Level.HEALTHY, "", latencyMs, workers, levels);
  }

  /** Health with a database that does not answer; the workers are unknown. */
  static Health unavailable(String message, long latencyMs) {
    return new Health(Level.UNHEALTHY, message, latencyMs, List.of(), Map.of());
  }

  public long workers(Level level) {
    return workersByLevel.getOrDefault(level, 0L);
  }

  public Level overallLevel() {
    if (database != Level.HEALTHY) {
      return database;
    }
    boolean late = workers(Level.DEGRADED) > 0 || workers(Level.UNHEALTHY) > 0;
    return late ? Level.DEGRADED : Level.HEALTHY;
  }
}
