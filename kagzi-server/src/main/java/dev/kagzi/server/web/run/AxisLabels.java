package dev.kagzi.server.web.run;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;

/**
 * Labels of a time axis. They have their two largest units, and more of them if two labels would
 * otherwise be the same.
 */
final class AxisLabels {
  private static final int UNITS_SHORT = 2;

  /** How many digits seconds have after the point, from the shortest labels to the longest. */
  private static final int[] DIGITS = {0, 1, 3};

  private AxisLabels() {}

  static List<String> of(List<Duration> times) {
    List<String> labels = times.stream().map(AxisLabels::shortest).toList();
    for (int i = 0; i < DIGITS.length && hasDuplicates(labels); i++) {
      int digits = DIGITS[i];
      labels = times.stream().map(time -> whole(time, digits)).toList();
    }
    return labels;
  }

  private static boolean hasDuplicates(List<String> labels) {
    return new HashSet<>(labels).size() < labels.size();
  }

  private static String shortest(Duration time) {
    if (time.toMillis() < 1_000) {
      return time.toMillis() + " ms";
    }
    List<String> units = units(time, time.toSeconds() < 10 ? 1 : 0);
    return String.join(" ", units.subList(0, Math.min(UNITS_SHORT, units.size())));
  }

  private static String whole(Duration time, int digits) {
    return time.toMillis() < 1_000
        ? time.toMillis() + " ms"
        : String.join(" ", units(time, digits));
  }

  /** Returns the units that are not zero, with their numbers, the largest first. */
  private static List<String> units(Duration time, int digits) {
    List<String> units = new ArrayList<>();
    add(units, time.toDays(), "d");
    add(units, time.toHoursPart(), "h");
    add(units, time.toMinutesPart(), "min");
    double seconds = time.toSecondsPart() + time.toMillisPart() / 1_000.0;
    boolean isShown = digits == 0 ? time.toSecondsPart() > 0 : seconds > 0;
    if (isShown || units.isEmpty()) {
      // Cut, not rounded, because 59.96 would become 60.0.
      double factor = Math.pow(10, digits);
      double cut = Math.floor(seconds * factor + 1e-6) / factor;
      units.add(String.format(Locale.ROOT, "%." + digits + "f s", cut));
    }
    return units;
  }

  private static void add(List<String> units, long number, String unit) {
    if (number > 0) {
      units.add(number + " " + unit);
    }
  }
}
