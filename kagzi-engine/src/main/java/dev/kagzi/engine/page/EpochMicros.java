package dev.kagzi.engine.page;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Times as the database counts them. */
public final class EpochMicros {
  // Beyond these no run was ever created, and microseconds still fit into a long.
  private static final Instant MIN = Instant.parse("1900-01-01T00:00:00Z");
  private static final Instant MAX = Instant.parse("2200-01-01T00:00:00Z");

  private EpochMicros() {}

  /** Whole microseconds since 1970: PostgreSQL keeps no finer times, and none coarser. */
  public static long micros(Instant time) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, time);
  }

  /** The time itself, or the end of the calendar that lies on its side. */
  public static Instant bounded(Instant time) {
    if (time.isBefore(MIN)) {
      return MIN;
    }
    return time.isAfter(MAX) ? MAX : time;
  }
}
