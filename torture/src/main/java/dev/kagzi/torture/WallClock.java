package dev.kagzi.torture;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.List;

/**
 * What the wall clock of a place shows in each minute of a time: found by walking over all of them,
 * without any cron arithmetic.
 */
final class WallClock {
  /**
   * One minute.
   *
   * @param second since 1970, of its beginning
   * @param again the clock was put back: it has shown this minute before
   * @param leftOut the minutes that the clock did not show, if it was put forward to this one
   */
  record Minute(long second, LocalDateTime shown, boolean again, List<LocalDateTime> leftOut) {}

  private static final int SECONDS = 60;

  private final List<Minute> minutes = new ArrayList<>();

  /** From the first time on, before the second; both are whole minutes. */
  WallClock(ZoneId zone, Instant from, Instant before) {
    ZoneRules rules = zone.getRules();
    LocalDateTime last = LocalDateTime.ofInstant(from.minusSeconds(SECONDS), zone);
    for (long s = from.getEpochSecond(); s < before.getEpochSecond(); s += SECONDS) {
      LocalDateTime shown = LocalDateTime.ofInstant(Instant.ofEpochSecond(s), zone);
      ZoneOffsetTransition change = rules.getTransition(shown);
      boolean again = change != null && change.isOverlap() && s >= change.toEpochSecond();
      List<LocalDateTime> leftOut = new ArrayList<>();
      for (LocalDateTime next = last.plusMinutes(1);
          next.isBefore(shown);
          next = next.plusMinutes(1)) {
        leftOut.add(next);
      }
      minutes.add(new Minute(s, shown, again, List.copyOf(leftOut)));
      last = shown;
    }
  }

  List<Minute> minutes() {
    return minutes;
  }
}
