package dev.kagzi.engine.worker;

import java.time.Duration;

/**
 * How the life of workers is watched.
 *
 * @param heartbeat how often a worker beats
 * @param lease how long a claim lasts without a heartbeat
 * @param stale how long a worker may be silent
 * @param detached how long a worker may be silent after its attached stream broke
 */
public record WorkerConfig(Duration heartbeat, Duration lease, Duration stale, Duration detached) {
  public static WorkerConfig defaults() {
    return new WorkerConfig(
        Duration.ofSeconds(3),
        Duration.ofSeconds(60),
        Duration.ofSeconds(10),
        Duration.ofSeconds(3));
  }
}
