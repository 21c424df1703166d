package dev.kagzi.cli;

import com.google.protobuf.Timestamp;
import dev.kagzi.server.config.OptionType;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;

/** Reads a time from the command line: RFC 3339, or a day. */
final class TimeOption {
  private static final OptionType AGO = new OptionType.Time("0s", "36500d");

  private TimeOption() {}

  /** Also reads a duration before now: 30m, 2h, 7d. */
  static Timestamp readPast(RemoteCommand command, String option, String text) {
    if (text.contains("-") || text.contains("T")) {
      return read(command, option, text);
    }
    try {
      Instant then = Instant.now().minus((Duration) AGO.read(text));
      return Timestamp.newBuilder().setSeconds(then.getEpochSecond()).build();
    } catch (IllegalArgumentException e) {
      throw command.usageError(
          option,
          text,
          "a length of time such as 30m, 2h or 7d, a time such as 2026-01-31T09:00:00Z, or a day");
    }
  }

  static Timestamp read(RemoteCommand command, String option, String text) {
    Instant instant;
    try {
      instant =
          text.contains("T")
              ? OffsetDateTime.parse(text).toInstant()
              : LocalDate.parse(text).atStartOfDay(ZoneOffset.UTC).toInstant();
    } catch (DateTimeException e) {
      throw command.usageError(option, text, "a time such as 2026-01-31T09:00:00Z, or a day");
    }
    return Timestamp.newBuilder()
        .setSeconds(instant.getEpochSecond())
        .setNanos(instant.getNano())
        .build();
  }
}
