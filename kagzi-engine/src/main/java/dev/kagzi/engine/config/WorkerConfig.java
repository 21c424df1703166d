package dev.kagzi.engine.config;

import java.time.Duration;

/**
 * How the engine detects dead workers, with the server options that set it.
 *
 * @param heartbeat {@code worker-heartbeat-interval}
 * @param lease {@code worker-visibility-timeout}: how long a claim lasts without a heartbeat
 * @param stale {@code coordinator-worker-stale-threshold}: a worker without a heartbeat for this
 *     time is marked offline
 * @param detached {@code worker-detached-timeout}: a worker whose Attach stream broke is marked
 *     offline after this time, unless it has attached again or sent a heartbeat
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
