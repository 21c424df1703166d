package dev.kagzi.engine.config;

import java.time.Duration;

/**
 * Settings of dispatch.
 *
 * @param firstLease the lease of a run that was just dispatched; a heartbeat extends it
 * @param fallbackInterval how often a queue checks for due runs that no event announced
 * @param keepSlots how long a worker's free slots are kept between two polls
 * @param claimers how many threads claim runs, each with its own connection
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
