package dev.kagzi.engine.internal.schedule;

import dev.kagzi.engine.value.Refusal;
import java.time.LocalDate;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A cron expression: the set of local times at which it fires. Times are seconds since 1970 on a
 * local clock; this class does not know the time zone. Each field is a bit set, so that the next
 * time of a day, and the number of times in it, take only a few word operations.
 *
 * <p>Five fields are minute, hour, day of month, month and day of week. Six fields begin with
 * seconds; seven end with a year. When day of month and day of week are both restricted, a day that
 * matches either one fires.
 */
final class Cron {
  static final int YEAR_MIN = 1970;
  static final int YEAR_MAX = 2199;

  static final long NONE = Long.MIN_VALUE;

  private static final int MINUTE = 60;
  private static final int HOUR = 3_600;
  private static final int DAY = 86_400;
  private static final int LENGTH_MAX = 200;
  private static final Map<String, String> MACROS =
      Map.of(
          "@yearly", "0 0 1 1 *",
          "@annually", "0 0 1 1 *",
          "@monthly", "0 0 1 * *",
          "@weekly", "0 0 * * 0",
          "@daily", "0 0 * * *",
          "@midnight", "0 0 * * *",
          "@hourly", "0 * * * *");

  private final long seconds;
  private final long minutes;
  private final long hours;
  private final long days;
  private final long months;
  private final long weekdays;
  private final BitSet years;
  private final boolean eitherDay;
  private final boolean hoursFixed;

  private Cron(Map<CronField, BitSet> bits, boolean eitherDay, boolean hoursFixed) {
    this.seconds = word(bits, CronField.SECOND);
    this.minutes = word(bits, CronField.MINUTE);
    this.hours = word(bits, CronField.HOUR);
    this.days = word(bits, CronField.DAY_OF_MONTH);
    this.months = word(bits, CronField.MONTH);
    this.weekdays = word(bits, CronField.DAY_OF_WEEK);
    this.years = bits.getOrDefault(CronField.YEAR, new BitSet());
    this.eitherDay = eitherDay;
    this.hoursFixed = hoursFixed;
  }

  private static long word(Map<CronField, BitSet> bits, CronField field) {
    return bits.getOrDefault(field, new BitSet()).toLongArray()[0];
  }

  static Cron parse(String expression) {
    if (expression.length() > LENGTH_MAX) {
      throw Refusal.invalid("cron_expr", expression, "at most " + LENGTH_MAX + " characters");
    }
    String text = expression.strip();
    String known = text.startsWith("@") ? MACROS.get(text.toLowerCase(Locale.ROOT)) : text;
    if (known == null) {
      throw Refusal.invalid(
          "cron_expr", text, "@yearly, @monthly, @weekly, @daily, @hourly, or 5 to 7 fields");
    }
    String[] parts = known.split("\\s+");
    List<CronField> fields = CronField.of(known.isEmpty() ? 0 : parts.length);
    if (fields.isEmpty()) {
      throw Refusal.invalid(
          "cron_expr",
          "\"" + text + "\" has " + (known.isEmpty() ? 0 : parts.length) + " fields",
          "5 (minute hour day-of-month month day-of-week), 6 (second first) or 7 (year last)");
    }
    return of(text, parts, fields);
  }

  private static Cron of(String expression, String[] parts, List<CronField> fields) {
    Map<CronField, BitSet> bits = new EnumMap<>(CronField.class);
    BitSet zero = new BitSet();
    zero.set(0);
    bits.put(CronField.SECOND, zero);
    BitSet always = new BitSet();
    always.set(YEAR_MIN, YEAR_MAX + 1);
    bits.put(CronField.YEAR, always);
    for (int i = 0; i < parts.length; i++) {
      bits.put(fields.get(i), fields.get(i).parse(expression, parts[i]));
    }
    String hour = parts[fields.indexOf(CronField.HOUR)];
    return new Cron(
        bits,
        !CronField.isOpen(parts[fields.indexOf(CronField.DAY_OF_MONTH)])
            && !CronField.isOpen(parts[fields.indexOf(CronField.DAY_OF_WEEK)]),
        !hour.contains("*") && !hour.contains("/"));
  }

  /**
   * Whether the hours have no star or step. Then a time that a clock change skips or repeats fires
   * once on that day.
   */
  boolean hoursFixed() {
    return hoursFixed;
  }

  long ceil(long local) {
    long day = Math.floorDiv(local, DAY);
    if (hasDay(LocalDate.ofEpochDay(day))) {
      int time = ceilTime((int) Math.floorMod(local, (long) DAY));
      if (time >= 0) {
        return day * DAY + time;
      }
    }
    long next = nextDay(day + 1);
    return next == NONE ? NONE : next * DAY + ceilTime(0);
  }

  /**
   * Counts the times at or after {@code from} and before {@code before}. The cost grows with the
   * number of days.
   */
  long count(long from, long before) {
    if (before <= from) {
      return 0;
    }
    long firstDay = Math.floorDiv(from, DAY);
    long lastDay = Math.floorDiv(before, DAY);
    long count = 0;
    LocalDate date = LocalDate.ofEpochDay(firstDay);
    for (long day = firstDay; day <= lastDay; day++, date = date.plusDays(1)) {
      if (hasDay(date)) {
        long end = day == lastDay ? timesBefore((int) Math.floorMod(before, (long) DAY)) : perDay();
        long begin = day == firstDay ? timesBefore((int) Math.floorMod(from, (long) DAY)) : 0;
        count += end - begin;
      }
    }
    return count;
  }

  private boolean hasDay(LocalDate date) {
    if (!years.get(date.getYear()) || !has(months, date.getMonthValue())) {
      return false;
    }
    boolean byMonth = has(days, date.getDayOfMonth());
    boolean byWeek = has(weekdays, date.getDayOfWeek().getValue() % 7);
    return eitherDay ? byMonth || byWeek : byMonth && byWeek;
  }

  private long nextDay(long from) {
    LocalDate date = LocalDate.ofEpochDay(from);
    while (date.getYear() <= YEAR_MAX) {
      if (!years.get(date.getYear())) {
        int year = years.nextSetBit(Math.max(0, date.getYear()));
        if (year < 0) {
          return NONE;
        }
        date = LocalDate.of(year, 1, 1);
      } else if (!has(months, date.getMonthValue())) {
        date = date.withDayOfMonth(1).plusMonths(1);
      } else if (hasDay(date)) {
        return date.toEpochDay();
      } else {
        date = date.plusDays(1);
      }
    }
    return NONE;
  }

  private int ceilTime(int time) {
    int hour = time / HOUR;
    int minute = time % HOUR / MINUTE;
    if (has(hours, hour)) {
      if (has(minutes, minute)) {
        int second = ceilBit(seconds, time % MINUTE);
        if (second >= 0) {
          return hour * HOUR + minute * MINUTE + second;
        }
      }
      int later = ceilBit(minutes, minute + 1);
      if (later >= 0) {
        return hour * HOUR + later * MINUTE + ceilBit(seconds, 0);
      }
    }
    int later = ceilBit(hours, hour + 1);
    return later < 0 ? -1 : later * HOUR + ceilBit(minutes, 0) * MINUTE + ceilBit(seconds, 0);
  }

  private long perDay() {
    return (long) Long.bitCount(hours) * Long.bitCount(minutes) * Long.bitCount(seconds);
  }

  private long timesBefore(int time) {
    int hour = time / HOUR;
    int minute = time % HOUR / MINUTE;
    long perMinute = Long.bitCount(seconds);
    long perHour = Long.bitCount(minutes) * perMinute;
    long count = bitsBelow(hours, hour) * perHour;
    if (has(hours, hour)) {
      count += bitsBelow(minutes, minute) * perMinute;
      if (has(minutes, minute)) {
        count += bitsBelow(seconds, time % MINUTE);
      }
    }
    return count;
  }

  private static boolean has(long bits, int index) {
    return (bits >>> index & 1) == 1;
  }

  private static long bitsBelow(long bits, int index) {
    return Long.bitCount(bits & ((1L << index) - 1));
  }

  private static int ceilBit(long bits, int from) {
    long rest = bits & (-1L << from);
    return rest == 0 ? -1 : Long.numberOfTrailingZeros(rest);
  }
}
