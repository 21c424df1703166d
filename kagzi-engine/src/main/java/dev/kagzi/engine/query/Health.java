package dev.kagzi.engine.query;

import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.value.WorkerStatus;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * How the database and the workers are.
 *
 * @param message what is wrong with the database; empty when nothing is
 * @param latencyMs how long it took to answer
 * @param workers those that died and whose runs wait, then those that have not left, the most
 *     silent first; only so many
 * @param workersByLevel all of them
 */
public record Health(
    Level database,
    String message,
    long latencyMs,
    List<Worker> workers,
    Map<Level, Long> workersByLevel) {

  static final int WORKERS_MAX = 100;

  /** How well something is. */
  public enum Level {
    HEALTHY,
    /** It works, and something is late. */
    DEGRADED,
    UNHEALTHY
  }

  /**
   * When a worker's silence means something.
   *
   * @param lateMs heartbeats are missing
   * @param deadMs the worker is about to be given up
   */
  public record Rules(long lateMs, long deadMs) {
    Level of(long silentMs) {
      if (silentMs < lateMs) {
        return Level.HEALTHY;
      }
      return silentMs < deadMs ? Level.DEGRADED : Level.UNHEALTHY;
    }
  }

  /** One that has not left, or that died and whose runs wait. */
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

  /** The database answers. */
  static Health of(
      long latencyMs, List<Worker> dead, List<Worker> silent, Map<Level, Long> present) {
    List<Worker> workers =
        Stream.concat(dead.stream(), silent.stream()).limit(WORKERS_MAX).toList();
    Map<Level, Long> levels = new EnumMap<>(present);
    levels.merge(Level.UNHEALTHY, (long) dead.size(), Long::sum);
    return new Health(Level.HEALTHY, "", latencyMs, workers, levels);
  }

  /** The database does not answer: more is not known. */
  static Health away(String message, long latencyMs) {
    return new Health(Level.UNHEALTHY, message, latencyMs, List.of(), Map.of());
  }

  public long workers(Level level) {
    return workersByLevel.getOrDefault(level, 0L);
  }

  /** All of it together. */
  public Level whole() {
    if (database != Level.HEALTHY) {
      return database;
    }
    boolean late = workers(Level.DEGRADED) > 0 || workers(Level.UNHEALTHY) > 0;
    return late ? Level.DEGRADED : Level.HEALTHY;
  }
}
