package dev.kagzi.engine.config;

import java.time.Duration;

/**
 * How long ended runs and offline workers are kept. Zero keeps them forever.
 *
 * @param runs since their end; a namespace may override it
 * @param workers since they went offline
 * @param interval how often expired rows are searched
 */
public record RetentionConfig(Duration runs, Duration workers, Duration interval) {
  public RetentionConfig {
    check("runs", runs);
    check("workers", workers);
    check("interval", interval);
  }

  private static void check(String name, Duration value) {
    if (value.isNegative()) {
      throw new IllegalArgumentException(
          "retention." + name + ": " + value + " (expected: not negative; 0 keeps)");
    }
  }

  public static RetentionConfig defaults() {
    return new RetentionConfig(Duration.ofDays(30), Duration.ofDays(7), Duration.ofMinutes(10));
  }
}
