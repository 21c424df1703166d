package dev.kagzi.torture;

import dev.kagzi.sdk.Overlap;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * A schedule of a torture test: its cron expression, and an independent computation of its slots.
 *
 * @param hours empty for every hour ({@code *})
 * @param days of the month; empty for every day
 * @param weekdays 0 is Sunday; empty for every day
 * @param maxCatchup how many late slots become runs afterwards
 * @param overlap if it is not {@code ALLOW}, the runs take long and all slots are caught up
 */
record PlannedSchedule(
    String name,
    String zone,
    Set<Integer> seconds,
    Set<Integer> minutes,
    Set<Integer> hours,
    Set<Integer> days,
    Set<Integer> weekdays,
    int maxCatchup,
    Overlap overlap) {

  static final int ALL_CAUGHT_UP = 1_000_000;
  private static final int FEW_CAUGHT_UP = 3;

  /** Every eighth of the hourly schedules must not overlap. */
  private static final int NO_OVERLAP_EVERY = 8;

  private static final List<String> ZONES =
      List.of(
          "UTC",
          "Europe/Berlin",
          "Europe/Lisbon",
          "Australia/Sydney",
          "Australia/Lord_Howe",
          "America/New_York",
          "Asia/Kolkata",
          "Pacific/Chatham");

  /** A mixture of periods and zones, most of them daily, a few of every minute or less. */
  static List<PlannedSchedule> mixture(int count, Random random) {
    List<PlannedSchedule> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      double kind = (i + 0.5) / count;
      PlannedSchedule plan;
      if (i == 0) {
        plan =
            of(i, random, Set.of(0, 30), every(0, 60, 1), Set.of(), Set.of(), Set.of())
                .catchingUp(ALL_CAUGHT_UP);
      } else if (i == 1) {
        // The first schedule shows when servers fire. This schedule has no catch-up, so it must
        // fire at most of these times, and never late.
        plan =
            of(i, random, Set.of(0), every(0, 60, 1), Set.of(), Set.of(), Set.of()).catchingUp(0);
      } else if (kind < 0.002) {
        plan = of(i, random, Set.of(0), every(0, 60, 1), Set.of(), Set.of(), Set.of());
      } else if (kind < 0.055) {
        int first = random.nextInt(30);
        plan = of(i, random, Set.of(0), Set.of(first, first + 30), Set.of(), Set.of(), Set.of());
      } else if (kind < 0.26) {
        plan = of(i, random, Set.of(0), some(random, 60, 1), Set.of(), Set.of(), Set.of());
        if (i % NO_OVERLAP_EVERY == 0) {
          plan =
              plan.withoutOverlap(
                  i % (2 * NO_OVERLAP_EVERY) == 0 ? Overlap.SKIP : Overlap.BUFFER_ONE);
        }
      } else {
        plan = daily(i, random);
      }
      all.add(plan);
    }
    return all;
  }

  /** A schedule that fires every few seconds. */
  static PlannedSchedule everySeconds(String name, int seconds, int maxCatchup) {
    return new PlannedSchedule(
        name,
        "UTC",
        every(0, 60, seconds),
        every(0, 60, 1),
        Set.of(),
        Set.of(),
        Set.of(),
        maxCatchup,
        Overlap.ALLOW);
  }

  private static PlannedSchedule daily(int index, Random random) {
    Set<Integer> hours = some(random, 24, 1 + random.nextInt(3));
    Set<Integer> days = Set.of();
    Set<Integer> weekdays = Set.of();
    switch (random.nextInt(4)) {
      case 0 -> weekdays = some(random, 7, 1 + random.nextInt(6));
      case 1 -> days = plusOne(some(random, 31, 10 + random.nextInt(10)));
      case 2 -> {
        weekdays = some(random, 7, 2);
        days = plusOne(some(random, 31, 5));
      }
      default -> {}
    }
    return of(index, random, Set.of(0), some(random, 60, 1), hours, days, weekdays);
  }

  private static PlannedSchedule of(
      int index,
      Random random,
      Set<Integer> seconds,
      Set<Integer> minutes,
      Set<Integer> hours,
      Set<Integer> days,
      Set<Integer> weekdays) {
    return new PlannedSchedule(
        "tortured-" + index,
        ZONES.get(random.nextInt(ZONES.size())),
        seconds,
        minutes,
        hours,
        days,
        weekdays,
        switch (random.nextInt(10)) {
          case 0 -> FEW_CAUGHT_UP;
          case 1 -> 0;
          default -> ALL_CAUGHT_UP;
        },
        Overlap.ALLOW);
  }

  private PlannedSchedule catchingUp(int max) {
    return new PlannedSchedule(name, zone, seconds, minutes, hours, days, weekdays, max, overlap);
  }

  private PlannedSchedule withoutOverlap(Overlap other) {
    return new PlannedSchedule(
        name, zone, seconds, minutes, hours, days, weekdays, ALL_CAUGHT_UP, other);
  }

  private static Set<Integer> every(int from, int before, int step) {
    Set<Integer> values = new TreeSet<>();
    for (int i = from; i < before; i += step) {
      values.add(i);
    }
    return values;
  }

  private static Set<Integer> some(Random random, int below, int count) {
    Set<Integer> values = new TreeSet<>();
    while (values.size() < count) {
      values.add(random.nextInt(below));
    }
    return values;
  }

  private static Set<Integer> plusOne(Set<Integer> values) {
    return values.stream().map(value -> value + 1).collect(Collectors.toCollection(TreeSet::new));
  }

  boolean mustNotOverlap() {
    return overlap != Overlap.ALLOW;
  }

  boolean catchesUp() {
    return maxCatchup == ALL_CAUGHT_UP;
  }

  String cron() {
    String fields =
        String.join(
            " ",
            minutes.size() == 60 ? "*" : text(minutes),
            text(hours),
            text(days),
            "*",
            text(weekdays));
    return seconds.equals(Set.of(0)) ? fields : text(seconds) + " " + fields;
  }

  private static String text(Set<Integer> values) {
    return values.isEmpty()
        ? "*"
        : values.stream().sorted().map(String::valueOf).collect(Collectors.joining(","));
  }

  /** Returns the slots after the given second, in all minutes of the clock. */
  List<Long> slots(WallClock clock, long after) {
    List<Long> slots = new ArrayList<>();
    for (WallClock.Minute minute : clock.minutes()) {
      boolean named = !hours.isEmpty();
      boolean fires = matches(minute.shown()) && !(named && minute.again());
      boolean madeUp = named && minute.leftOut().stream().anyMatch(this::matches);
      if (madeUp && minute.second() > after) {
        slots.add(minute.second());
      }
      for (int second : seconds.stream().sorted().toList()) {
        long slot = minute.second() + second;
        if (fires && slot > after && !(madeUp && second == 0)) {
          slots.add(slot);
        }
      }
    }
    return slots;
  }

  private boolean matches(LocalDateTime shown) {
    return minutes.contains(shown.getMinute())
        && (hours.isEmpty() || hours.contains(shown.getHour()))
        && matchesDay(shown);
  }

  private boolean matchesDay(LocalDateTime shown) {
    boolean day = days.contains(shown.getDayOfMonth());
    boolean weekday = weekdays.contains(shown.getDayOfWeek().getValue() % 7);
    if (!days.isEmpty() && !weekdays.isEmpty()) {
      return day || weekday;
    }
    return (days.isEmpty() || day) && (weekdays.isEmpty() || weekday);
  }
}
