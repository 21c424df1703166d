package dev.kagzi.sdk.internal.run;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Parses durations: "24h", "1 day", "1h 30m", "500 ms", "1.5 hours", "PT15M". */
final class DurationText {
  private static final Pattern PART = Pattern.compile("\\s*(\\d+(?:\\.\\d+)?)\\s*([a-z]+)\\s*,?");

  private DurationText() {}

  static Duration parse(String text) {
    if (text.startsWith("P") || text.startsWith("-P")) {
      return parseIso(text);
    }
    Matcher part = PART.matcher(text.toLowerCase(Locale.ROOT));
    Duration sum = Duration.ZERO;
    int end = 0;
    while (end < text.length()) {
      if (!part.find(end) || part.start() != end) {
        throw unreadable(text, null);
      }
      sum = sum.plus(amount(text, part.group(1), part.group(2)));
      end = part.end();
    }
    if (end == 0) {
      throw unreadable(text, null);
    }
    return sum;
  }

  private static Duration parseIso(String text) {
    try {
      return Duration.parse(text);
    } catch (DateTimeParseException e) {
      throw unreadable(text, e);
    }
  }

  private static Duration amount(String text, String number, String unit) {
    long unitMs =
        switch (unit) {
          case "ms", "milli", "millis", "millisecond", "milliseconds" -> 1L;
          case "s", "sec", "secs", "second", "seconds" -> 1_000L;
          case "m", "min", "mins", "minute", "minutes" -> 60_000L;
          case "h", "hr", "hrs", "hour", "hours" -> 3_600_000L;
          case "d", "day", "days" -> 86_400_000L;
          case "w", "week", "weeks" -> 604_800_000L;
          default -> throw unreadable(text, null);
        };
    try {
      return Duration.ofMillis(
          new BigDecimal(number)
              .multiply(BigDecimal.valueOf(unitMs))
              .toBigInteger()
              .longValueExact());
    } catch (ArithmeticException e) {
      throw unreadable(text, e);
    }
  }

  private static IllegalArgumentException unreadable(String text, @Nullable Throwable cause) {
    return new IllegalArgumentException(
        "duration: \"" + text + "\" (expected: such as 500ms, 30s, 24h, 1 day, 1h 30m or PT15M)",
        cause);
  }
}
