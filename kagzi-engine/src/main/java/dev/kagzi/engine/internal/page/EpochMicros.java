package dev.kagzi.engine.internal.page;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

public final class EpochMicros {
  // No run was created outside of these limits, and their microseconds fit into a long.
  private static final Instant MIN = Instant.parse("1900-01-01T00:00:00Z");
  private static final Instant MAX = Instant.parse("2200-01-01T00:00:00Z");

  private EpochMicros() {}

  /** Whole microseconds since 1970, the precision of PostgreSQL. */
  public static long micros(Instant time) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, time);
  }

  public static Instant bounded(Instant time) {
    if (time.isBefore(MIN)) {
      return MIN;
    }
    return time.isAfter(MAX) ? MAX : time;
  }
}
