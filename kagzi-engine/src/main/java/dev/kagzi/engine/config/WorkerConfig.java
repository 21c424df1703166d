package dev.kagzi.engine.config;

import java.time.Duration;

/**
 * How the engine detects dead workers.
 *
 * @param heartbeat interval between heartbeats of a worker
 * @param lease how long a claim lasts without a heartbeat
 * @param stale age of the last heartbeat after which a worker is marked offline
 * @param detached after how long without a new stream and heartbeat a worker is marked offline if
 *     its Attach stream broke
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
