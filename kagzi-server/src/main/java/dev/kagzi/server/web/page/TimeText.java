package dev.kagzi.server.web.page;

import dev.kagzi.engine.value.Refusal;
import dev.kagzi.server.config.OptionType;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Lengths of time and times in forms: {@code 30s}, {@code 7d}, {@code 2026-01-31T12:00}. */
public final class TimeText {
  private static final OptionType.Time LENGTH = new OptionType.Time("0ms", "36600d");
  private static final Map<String, Long> UNITS = new LinkedHashMap<>();

  static {
    UNITS.put("d", 86_400_000L);
    UNITS.put("h", 3_600_000L);
    UNITS.put("m", 60_000L);
    UNITS.put("s", 1_000L);
  }

  private TimeText() {}

  /**
   * Returns a length of time in milliseconds; null if the text is empty.
   *
   * @throws Refusal if the text is no length of time
   */
  public static @Nullable Long millis(String field, String text) {
    if (text.isEmpty()) {
      return null;
    }
    try {
      return LENGTH.read(text) instanceof Duration time ? time.toMillis() : null;
    } catch (IllegalArgumentException e) {
      throw Refusal.invalid(field, text, String.valueOf(e.getMessage()));
    }
  }

  /** Returns a text that {@link #millis} reads as the same time; empty for null. */
  public static String text(@Nullable Long millis) {
    if (millis == null) {
      return "";
    }
    for (Map.Entry<String, Long> unit : UNITS.entrySet()) {
      if (millis > 0 && millis % unit.getValue() == 0) {
        return millis / unit.getValue() + unit.getKey();
      }
    }
    return millis + "ms";
  }

  /**
   * Returns a time in UTC, as browsers send the value of a field for date and time.
   *
   * @throws Refusal if the text is no time
   */
  public static Instant instant(String field, String text) {
    try {
      return text.endsWith("Z")
          ? Instant.parse(text)
          : LocalDateTime.parse(text).toInstant(ZoneOffset.UTC);
    } catch (DateTimeParseException e) {
      throw Refusal.invalid(
          field, text.isEmpty() ? "\"\"" : text, "a time in UTC such as 2026-01-31T12:00");
    }
  }
}
