package dev.kagzi.server.web.page;

import dev.kagzi.engine.query.RunCount;
import dev.kagzi.engine.query.RunView;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** How templates show values. */
public final class Show {
  private static final DateTimeFormatter ABSOLUTE =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSS 'UTC'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);
  private static final int SHORT_ID = 8;
  private static final int KIB = 1_024;

  private Show() {}

  /** Returns how long before or after now a time is, such as "3 min ago" or "in 2 h". */
  public static String relative(Instant time, Instant now) {
    Duration ago = Duration.between(time, now);
    if (ago.abs().toMillis() < 1_000) {
      return "now";
    }
    // Whole seconds: a relative time changes all the time, so its tenths are of no use, and they
    // would differ from those in other texts.
    String length = ago.abs().toSeconds() < 60 ? ago.abs().toSeconds() + " s" : duration(ago.abs());
    return ago.isNegative() ? "in " + length : length + " ago";
  }

  /** Returns how long after another a time is, to the second: "+10 min 5 s". */
  public static String offset(Instant from, Instant time) {
    Duration after = Duration.between(from, time);
    if (after.toMinutes() < 10 || after.isNegative()) {
      return "+" + duration(after.isNegative() ? Duration.ZERO : after);
    }
    String minutes = after.toMinutesPart() + " min " + after.toSecondsPart() + " s";
    if (after.toHours() < 1) {
      return "+" + minutes;
    }
    String hours = after.toHoursPart() + " h " + minutes;
    return "+" + (after.toDays() < 1 ? hours : after.toDays() + " d " + hours);
  }

  public static String absolute(Instant time) {
    return ABSOLUTE.format(time);
  }

  /** Returns a duration in its one or two largest units. */
  public static String duration(Duration time) {
    long ms = time.toMillis();
    if (ms < 1_000) {
      return ms + " ms";
    }
    if (ms < 60_000) {
      return ms < 9_950
          ? String.format(Locale.ROOT, "%.1f s", ms / 1_000.0)
          : time.toSeconds() + " s";
    }
    if (time.toHours() < 1) {
      return units(time.toMinutes(), "min", time.toSecondsPart(), "s");
    }
    if (time.toDays() < 1) {
      return units(time.toHours(), "h", time.toMinutesPart(), "min");
    }
    return units(time.toDays(), "d", time.toHoursPart(), "h");
  }

  private static String units(long large, String unit, int small, String smallUnit) {
    return small == 0 || large >= 10
        ? large + " " + unit
        : large + " " + unit + " " + small + " " + smallUnit;
  }

  /** Returns a duration in milliseconds as {@link #duration}; a dash for none. */
  public static String millis(@Nullable Long ms) {
    return ms == null ? "–" : duration(Duration.ofMillis(ms));
  }

  /** Returns a number with separators between thousands. */
  public static String number(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  /** Returns a count with a plus if there are more: "12" or "10,000+". */
  public static String count(RunCount count) {
    return number(count.runs()) + (count.isExact() ? "" : "+");
  }

  /** Returns a number of runs: "1 run" or "1,000 runs". */
  public static String runs(long number) {
    return number(number) + (number == 1 ? " run" : " runs");
  }

  /** Returns a share of 100: "12 %", or "0.4 %" if it is small. */
  public static String percent(double percent) {
    return String.format(Locale.ROOT, percent < 1 && percent > 0 ? "%.1f %%" : "%.0f %%", percent);
  }

  public static String bytes(long bytes) {
    if (bytes < KIB) {
      return bytes + " B";
    }
    return bytes < (long) KIB * KIB
        ? String.format(Locale.ROOT, "%.1f KiB", (double) bytes / KIB)
        : String.format(Locale.ROOT, "%.1f MiB", (double) bytes / KIB / KIB);
  }

  /**
   * Returns the end of an id, which differs even between ids of the same moment; the beginning of
   * an id is a time.
   */
  public static String shortId(Object id) {
    String text = id.toString();
    return text.length() <= SHORT_ID ? text : "…" + text.substring(text.length() - SHORT_ID);
  }

  /** Returns the title of a run: its type, and its external id or else the end of its id. */
  public static String title(RunView run) {
    return run.workflowType()
        + " "
        + (run.externalId().isEmpty() ? shortId(run.runId()) : run.externalId());
  }

  /** Returns a status as words: "timed out". */
  public static String words(Enum<?> status) {
    return status.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  /** Returns the style of a status: "timed-out". */
  public static String style(Enum<?> status) {
    return status.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
