package dev.kagzi.engine.internal.schedule;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullMarked;

/**
 * A random cron expression with the values of each field. It finds its slots by testing every
 * second, or minute, of a period.
 */
@NullMarked
public final class CronWalk {
  private final RandomGenerator random;
  private final StringBuilder text = new StringBuilder();
  private final Set<Integer> seconds;
  private final Set<Integer> minutes;
  private final Set<Integer> hours;
  private final Set<Integer> days;
  private final Set<Integer> months;
  private final Set<Integer> weekdays;
  private final boolean hoursNamed;
  private final boolean bothDays;
  private String last = "";

  CronWalk(RandomGenerator random) {
    this.random = random;
    boolean withSeconds = random.nextInt(3) == 0;
    this.seconds = withSeconds ? field(0, 59, 0.3) : Set.of(0);
    this.minutes = field(0, 59, 0.3);
    this.hours = field(0, 23, 0.4);
    this.hoursNamed = !last.contains("*") && !last.contains("/");
    this.days = field(1, 31, 0.7);
    boolean daysNamed = !last.startsWith("*");
    this.months = field(1, 12, 0.8);
    this.weekdays =
        field(0, 7, 0.7).stream().map(day -> day % 7).collect(Collectors.toUnmodifiableSet());
    this.bothDays = daysNamed && !last.startsWith("*");
    if (withSeconds && random.nextBoolean()) {
      text.append(" *");
    }
  }

  String expression() {
    return text.toString();
  }

  private Set<Integer> field(int min, int max, double open) {
    Set<Integer> values = new HashSet<>();
    int top = max == 7 ? 6 : max;
    if (random.nextDouble() < open) {
      int step = random.nextInt(3) == 0 ? 1 + random.nextInt(Math.max(1, top / 2)) : 1;
      last = step == 1 ? "*" : "*/" + step;
      for (int v = min; v <= top; v += step) {
        values.add(v);
      }
    } else {
      List<String> parts = new ArrayList<>();
      for (int i = random.nextInt(3); i >= 0; i--) {
        parts.add(part(values, min, max, top));
      }
      last = String.join(",", parts);
    }
    text.append(text.isEmpty() ? "" : " ").append(last);
    return values;
  }

  private String part(Set<Integer> values, int min, int max, int top) {
    int from = random.nextInt(min, top + 1);
    int to = random.nextInt(min, top + 1);
    int step = 1 + random.nextInt(4);
    switch (random.nextInt(4)) {
      case 0 -> {
        for (int v = from; ; v = v == top ? min : v + 1) {
          values.add(v);
          if (v == to) {
            return from + "-" + to;
          }
        }
      }
      case 1 -> {
        for (int v = from; v <= top; v += step) {
          values.add(v);
        }
        return from + "/" + step;
      }
      default -> {
        int value = random.nextInt(min, max + 1);
        values.add(value);
        return Integer.toString(value);
      }
    }
  }

  /** Returns all slots from {@code from} up to but not including {@code before}. */
  List<Long> slots(ZoneId zone, long from, long before) {
    ZoneRules rules = zone.getRules();
    int step = seconds.equals(Set.of(0)) ? 60 : 1;
    List<Long> found = new ArrayList<>();
    Set<Long> gapEnds = new HashSet<>();
    for (ZoneOffsetTransition next = rules.nextTransition(Instant.ofEpochSecond(from - 1));
        next != null && next.toEpochSecond() < before;
        next = rules.nextTransition(next.getInstant())) {
      if (hoursNamed && next.isGap() && gapMatches(next)) {
        gapEnds.add(next.toEpochSecond());
      }
    }
    for (long second = from; second < before; second++) {
      // Zone offsets are whole minutes in all tested periods.
      if (second % step == 0 && (gapEnds.contains(second) || isSlot(rules, second))) {
        found.add(second);
      }
    }
    return found;
  }

  private boolean isSlot(ZoneRules rules, long second) {
    Instant instant = Instant.ofEpochSecond(second);
    LocalDateTime local = LocalDateTime.ofInstant(instant, rules.getOffset(instant));
    if (!matches(local)) {
      return false;
    }
    ZoneOffsetTransition here = hoursNamed ? rules.getTransition(local) : null;
    return here == null || here.isGap() || second < here.toEpochSecond();
  }

  private boolean gapMatches(ZoneOffsetTransition gap) {
    for (LocalDateTime local = gap.getDateTimeBefore();
        local.isBefore(gap.getDateTimeAfter());
        local = local.plusSeconds(1)) {
      if (matches(local)) {
        return true;
      }
    }
    return false;
  }

  private boolean matches(LocalDateTime local) {
    boolean day = days.contains(local.getDayOfMonth());
    boolean weekday = weekdays.contains(local.getDayOfWeek().getValue() % 7);
    return seconds.contains(local.getSecond())
        && minutes.contains(local.getMinute())
        && hours.contains(local.getHour())
        && months.contains(local.getMonthValue())
        && (bothDays ? day || weekday : day && weekday);
  }

  /** Number of hours that can be tested on either side. */
  int hoursToWalk() {
    return seconds.equals(Set.of(0)) ? 30 : 4;
  }

  /** Returns a time near a change of the zone's offset, or any time if it has none. */
  static long near(RandomGenerator random, ZoneId zone) {
    long any =
        LocalDateTime.of(1975 + random.nextInt(100), 1 + random.nextInt(12), 1, 0, 0)
            .toEpochSecond(ZoneOffset.UTC);
    ZoneOffsetTransition next = zone.getRules().nextTransition(Instant.ofEpochSecond(any));
    return next == null || random.nextInt(4) == 0 ? any : next.toEpochSecond();
  }
}
