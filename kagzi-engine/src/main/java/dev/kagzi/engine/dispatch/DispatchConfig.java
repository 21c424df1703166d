package dev.kagzi.engine.dispatch;

import java.time.Duration;

/**
 * Bounds of dispatch.
 *
 * @param pollMax how long a poll waits at most
 * @param firstLease the lease of a run that was just handed out; a heartbeat makes it full
 * @param fallbackLook how often a gate looks although nothing told it to
 * @param linger how long a worker's free slots are kept for it between two polls
 * @param answerBytesMax what one answer to a poll may hold
 * @param claimers threads, each with a session, that look for runs
 */
public record DispatchConfig(
    Duration pollMax,
    Duration firstLease,
    Duration fallbackLook,
    Duration linger,
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
    return new DispatchConfig(pollMax, lease, fallbackLook, linger, answerBytesMax, claimers);
  }

  public DispatchConfig withFallbackLook(Duration look) {
    return new DispatchConfig(pollMax, firstLease, look, linger, answerBytesMax, claimers);
  }
}
