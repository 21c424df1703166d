package dev.kagzi.engine.chore;

import java.time.Duration;

/**
 * How long what is over is kept. Zero keeps it for ever.
 *
 * @param runs since their end; a namespace may say otherwise for its own
 * @param workers since they left
 * @param interval how often it is looked for
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
