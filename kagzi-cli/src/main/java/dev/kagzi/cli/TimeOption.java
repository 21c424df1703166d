package dev.kagzi.cli;

import com.google.protobuf.Timestamp;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;

/** A time on the command line: RFC 3339, or a day. */
final class TimeOption {
  private TimeOption() {}

  static Timestamp read(RemoteCommand command, String option, String text) {
    Instant instant;
    try {
      instant =
          text.contains("T")
              ? OffsetDateTime.parse(text).toInstant()
              : LocalDate.parse(text).atStartOfDay(ZoneOffset.UTC).toInstant();
    } catch (DateTimeException e) {
      throw command.wrong(option, text, "a time such as 2026-01-31T09:00:00Z, or a day");
    }
    return Timestamp.newBuilder()
        .setSeconds(instant.getEpochSecond())
        .setNanos(instant.getNano())
        .build();
  }
}
