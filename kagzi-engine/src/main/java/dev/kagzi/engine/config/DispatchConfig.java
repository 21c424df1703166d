package dev.kagzi.engine.config;

import java.time.Duration;

/**
 * Settings of dispatch, with the server options that set them.
 *
 * @param firstLease {@code worker-first-lease}: the lease of a run until the first heartbeat
 * @param fallbackInterval {@code poll-fallback-interval}: how often a queue checks for missed runs
 * @param keepSlots {@code poll-keep-slots}: how long the free slots of a worker are kept for it
 *     between two of its polls
 * @param claimers {@code dispatch-claimers}: how many threads claim runs
 */
public record DispatchConfig(
    Duration pollMax,
    Duration firstLease,
    Duration fallbackInterval,
    Duration keepSlots,
    int answerBytesMax,
    int claimers) {

  public static DispatchConfig defaults() {
    return new DispatchConfig(
        Duration.ofSeconds(60),
        Duration.ofSeconds(6),
        Duration.ofSeconds(2),
        Duration.ofSeconds(1),
        3 << 20,
        2);
  }

  public DispatchConfig withFirstLease(Duration lease) {
    return new DispatchConfig(
        pollMax, lease, fallbackInterval, keepSlots, answerBytesMax, claimers);
  }

  public DispatchConfig withFallbackInterval(Duration interval) {
    return new DispatchConfig(pollMax, firstLease, interval, keepSlots, answerBytesMax, claimers);
  }
}
