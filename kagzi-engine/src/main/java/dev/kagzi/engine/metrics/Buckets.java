package dev.kagzi.engine.metrics;

import io.micrometer.core.instrument.Timer;
import java.time.Duration;

/**
 * The buckets of all histograms of times. They are the same, so that dashboards can compare them.
 */
public final class Buckets {
  private static final Duration[] TIMES = {
    Duration.ofMillis(1),
    Duration.ofMillis(5),
    Duration.ofMillis(10),
    Duration.ofMillis(50),
    Duration.ofMillis(100),
    Duration.ofMillis(500),
    Duration.ofSeconds(1),
    Duration.ofSeconds(5),
    Duration.ofSeconds(30),
    Duration.ofMinutes(5)
  };

  private Buckets() {}

  public static Timer.Builder of(Timer.Builder timer) {
    return timer.serviceLevelObjectives(TIMES);
  }
}
