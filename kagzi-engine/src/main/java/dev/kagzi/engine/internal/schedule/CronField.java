package dev.kagzi.engine.internal.schedule;

import dev.kagzi.engine.value.Refusal;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** One field of a cron expression: its name, its range and its names of values. */
enum CronField {
  SECOND(0, 59),
  MINUTE(0, 59),
  HOUR(0, 23),
  DAY_OF_MONTH(1, 31),
  MONTH(1, 12, "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC"),
  DAY_OF_WEEK(0, 7, "SUN MON TUE WED THU FRI SAT"),
  YEAR(Cron.YEAR_MIN, Cron.YEAR_MAX);

  private static final int WEEK = 7;

  private final int min;
  private final int max;
  private final String names;

  CronField(int min, int max) {
    this(min, max, "");
  }

  CronField(int min, int max, String names) {
    this.min = min;
    this.max = max;
    this.names = names;
  }

  private List<String> names() {
    return names.isEmpty() ? List.of() : List.of(names.split(" "));
  }

  String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Whether a day field counts as unrestricted: it begins with a star, or is a question mark. */
  static boolean isOpen(String text) {
    return text.startsWith("*") || text.equals("?");
  }

  /** Parses the values of the field; weekdays are 0 (Sunday) to 6. */
  BitSet parse(String expression, String text) {
    BitSet values = new BitSet();
    for (String part : text.split(",", -1)) {
      if (!add(values, part)) {
        throw wrong(expression, text);
      }
    }
    return values;
  }

  private boolean add(BitSet values, String part) {
    String[] stepped = part.split("/", -1);
    Integer step = stepped.length == 2 ? number(stepped[1]) : Integer.valueOf(1);
    if (stepped.length > 2 || step == null || step < 1 || step > max) {
      return false;
    }
    String range = stepped[0];
    if (range.equals("*") || (range.equals("?") && isDay() && stepped.length == 1)) {
      return fill(values, min, last(), step);
    }
    String[] ends = range.split("-", -1);
    Integer from = value(ends[0]);
    Integer to = ends.length == 2 ? value(ends[1]) : from;
    if (ends.length > 2 || from == null || to == null) {
      return false;
    }
    return fill(values, from, ends.length == 1 && stepped.length == 2 ? last() : to, step);
  }

  /**
   * Adds a range of values. A range whose end is less than its start wraps around: SAT-MON, 22-2.
   * Returns false for such a range of years, which cannot wrap around.
   */
  private boolean fill(BitSet values, int from, int to, int step) {
    if (from > to && this == YEAR) {
      return false;
    }
    int begin = this == DAY_OF_WEEK && from == WEEK && to < WEEK ? 0 : from;
    int length = begin <= to ? to - begin : last() - begin + 1 + to - min;
    int size = last() - min + 1;
    for (int i = 0; i <= length; i += step) {
      values.set(min + (begin - min + i) % size);
    }
    return true;
  }

  private boolean isDay() {
    return this == DAY_OF_MONTH || this == DAY_OF_WEEK;
  }

  private int last() {
    return this == DAY_OF_WEEK ? WEEK - 1 : max;
  }

  private @Nullable Integer value(String text) {
    int name = names().indexOf(text.toUpperCase(Locale.ROOT));
    if (name >= 0) {
      return min + name;
    }
    Integer number = number(text);
    return number == null || number < min || number > max ? null : number;
  }

  private static @Nullable Integer number(String text) {
    boolean digits =
        !text.isEmpty() && text.length() <= 4 && text.chars().allMatch(c -> c >= '0' && c <= '9');
    return digits ? Integer.valueOf(text) : null;
  }

  private Refusal wrong(String expression, String text) {
    String allowed = min + " to " + max;
    if (!names.isEmpty()) {
      allowed += " or " + names().getFirst() + " to " + names().getLast();
    }
    return Refusal.invalid(
        "cron_expr",
        "\"" + expression + "\", field " + label() + " is \"" + text + "\"",
        "*, or a list of " + allowed + ", ranges a-b, and steps */n, a/n or a-b/n");
  }

  static List<CronField> of(int count) {
    List<CronField> all = Arrays.asList(values());
    return switch (count) {
      case 5 -> all.subList(1, 6);
      case 6 -> all.subList(0, 6);
      case 7 -> all;
      default -> List.of();
    };
  }
}
