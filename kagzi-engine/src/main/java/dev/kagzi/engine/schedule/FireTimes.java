package dev.kagzi.engine.schedule;

import dev.kagzi.engine.value.Refusal;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import org.jspecify.annotations.Nullable;

/**
 * The slots of a cron expression in a time zone, as seconds since 1970. Time is cut into stretches
 * in which the zone's offset stays the same; within one, a slot is a local time less the offset.
 *
 * <p>Where the clock is put forward or back, two sorts of expressions differ. Named hours are meant
 * once a day: a time that is left out fires at the end of the gap, one that comes twice fires the
 * first time. Hours with a star or a step follow elapsed time: what is left out is left out, and
 * what comes twice fires twice.
 *
 * <p>Thread-safe. No answer costs more for many slots: days are counted, not slots.
 */
final class FireTimes {
  static final long NONE = Cron.NONE;
  private static final long LAST =
      Instant.parse(Cron.YEAR_MAX + 1 + "-01-02T00:00:00Z").getEpochSecond();
  private static final long FIRST =
      Instant.parse(Cron.YEAR_MIN - 1 + "-12-30T00:00:00Z").getEpochSecond();

  private final Cron cron;
  private final ZoneRules rules;

  private FireTimes(Cron cron, ZoneRules rules) {
    this.cron = cron;
    this.rules = rules;
  }

  /** Refuses what is no expression or no zone. */
  static FireTimes of(String expression, String zone) {
    return new FireTimes(Cron.parse(expression), zone(zone).getRules());
  }

  private static ZoneId zone(String name) {
    if (!ZoneId.getAvailableZoneIds().contains(name)) {
      throw Refusal.invalid(
          "time_zone", name, "a time zone of the IANA database, such as Europe/Berlin");
    }
    return ZoneId.of(name);
  }

  /** The first slot after the time. */
  long after(long time) {
    long from = Math.max(time + 1, FIRST);
    while (from < LAST) {
      Stretch stretch = at(from);
      long found = stretch.first(from);
      if (found != NONE) {
        return found;
      }
      from = stretch.end;
    }
    return NONE;
  }

  /** How many slots are after the first time and not after the second. */
  long count(long after, long to) {
    long count = 0;
    long from = Math.max(after + 1, FIRST);
    long last = Math.min(to, LAST);
    while (from <= last) {
      Stretch stretch = at(from);
      count += stretch.count(from, Math.min(last, stretch.end - 1));
      from = stretch.end;
    }
    return count;
  }

  /** The slot after the first time and not after the second that so many others come before. */
  long nthAfter(long time, long others, long to) {
    long low = time;
    long high = Math.min(to, LAST);
    if (count(time, high) <= others) {
      return NONE;
    }
    while (high - low > 1) {
      long middle = low + (high - low) / 2;
      if (count(time, middle) > others) {
        high = middle;
      } else {
        low = middle;
      }
    }
    return high;
  }

  private Stretch at(long time) {
    Instant instant = Instant.ofEpochSecond(time);
    return new Stretch(
        rules.getOffset(instant),
        rules.previousTransition(instant.plusNanos(1)),
        rules.nextTransition(instant));
  }

  /** Time during which the offset stays the same. */
  private final class Stretch {
    private final long offset;
    private final long start;
    private final long end;
    // Local times from here to the start, both included, fire at the start.
    private final long leftOutFrom;
    // Local times before this came in the stretch before.
    private final long newFrom;

    Stretch(
        ZoneOffset now,
        @Nullable ZoneOffsetTransition before,
        @Nullable ZoneOffsetTransition next) {
      this.offset = now.getTotalSeconds();
      this.start = before == null ? Long.MIN_VALUE : before.toEpochSecond();
      this.end = next == null ? Long.MAX_VALUE : next.toEpochSecond();
      boolean once = cron.hoursFixed() && before != null;
      this.leftOutFrom =
          once && before != null && before.isGap() ? localBefore(before) : Long.MAX_VALUE;
      this.newFrom =
          once && before != null && before.isOverlap() ? localBefore(before) : Long.MIN_VALUE;
    }

    private static long localBefore(ZoneOffsetTransition transition) {
      return transition.getDateTimeBefore().toEpochSecond(ZoneOffset.UTC);
    }

    private boolean hasGap() {
      return leftOutFrom != Long.MAX_VALUE;
    }

    private boolean firesAtStart() {
      long left = cron.ceil(leftOutFrom);
      return left != NONE && left <= start + offset;
    }

    long first(long from) {
      if (hasGap() && from == start && firesAtStart()) {
        return start;
      }
      long local = cron.ceil(Math.max(from + offset, newFrom));
      return local == NONE || local - offset >= end ? NONE : local - offset;
    }

    long count(long from, long to) {
      if (hasGap() && from == start) {
        return (firesAtStart() ? 1 : 0) + cron.count(start + offset + 1, to + offset + 1);
      }
      return cron.count(Math.max(from + offset, newFrom), to + offset + 1);
    }
  }
}
