package dev.kagzi.engine.internal.schedule;

import dev.kagzi.engine.value.Refusal;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import org.jspecify.annotations.Nullable;

/**
 * The slots of a cron expression in a time zone, as seconds since 1970. Time is divided into
 * stretches with a constant zone offset; within one, a slot is a local time minus the offset.
 *
 * <p>When clocks change, two kinds of expressions differ. Listed hours fire once per day: a skipped
 * time fires at the end of the gap, a repeated time fires the first time only. Hours with a star or
 * a step follow elapsed time: skipped times do not fire, and repeated times fire twice.
 *
 * <p>Thread-safe. The cost of a call grows with the number of days, not slots.
 */
public final class FireTimes {
  public static final long NONE = Cron.NONE;
  private static final long LAST =
      Instant.parse(Cron.YEAR_MAX + 1 + "-01-02T00:00:00Z").getEpochSecond();
  private static final long FIRST =
      Instant.parse(Cron.YEAR_MIN - 1 + "-12-30T00:00:00Z").getEpochSecond();

  private final Cron cron;
  private final ZoneRules rules;

  /** Returns the first full second that is not before the time. */
  public static long ceilSecond(Instant time) {
    return time.getEpochSecond() + (time.getNano() > 0 ? 1 : 0);
  }

  private FireTimes(Cron cron, ZoneRules rules) {
    this.cron = cron;
    this.rules = rules;
  }

  public static FireTimes of(String expression, String zone) {
    return new FireTimes(Cron.parse(expression), zone(zone).getRules());
  }

  private static ZoneId zone(String name) {
    if (!ZoneId.getAvailableZoneIds().contains(name)) {
      throw Refusal.invalid(
          "time_zone", name, "a time zone of the IANA database, such as Europe/Berlin");
    }
    return ZoneId.of(name);
  }

  public long after(long time) {
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

  /** Counts the slots after {@code after}, up to and including {@code to}. */
  public long count(long after, long to) {
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

  /**
   * Skips {@code others} slots after {@code time} and returns the next one; NONE if it is after
   * {@code to}.
   */
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

  private final class Stretch {
    private final long offset;
    private final long start;
    private final long end;
    // With fixed hours, the first local time of a gap before this stretch: its slots fire at start.
    private final long skippedFrom;
    // With fixed hours, local times before this also occurred in the previous stretch.
    private final long newFrom;

    Stretch(
        ZoneOffset now,
        @Nullable ZoneOffsetTransition before,
        @Nullable ZoneOffsetTransition next) {
      this.offset = now.getTotalSeconds();
      this.start = before == null ? Long.MIN_VALUE : before.toEpochSecond();
      this.end = next == null ? Long.MAX_VALUE : next.toEpochSecond();
      boolean once = cron.hoursFixed() && before != null;
      this.skippedFrom =
          once && before != null && before.isGap() ? localBefore(before) : Long.MAX_VALUE;
      this.newFrom =
          once && before != null && before.isOverlap() ? localBefore(before) : Long.MIN_VALUE;
    }

    private static long localBefore(ZoneOffsetTransition transition) {
      return transition.getDateTimeBefore().toEpochSecond(ZoneOffset.UTC);
    }

    private boolean hasGap() {
      return skippedFrom != Long.MAX_VALUE;
    }

    private boolean firesAtStart() {
      long left = cron.ceil(skippedFrom);
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
