package dev.kagzi.torture;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.List;

/**
 * What a wall clock in a zone shows in each minute: found by walking over all minutes, without any
 * cron arithmetic.
 */
final class WallClock {
  /**
   * One minute.
   *
   * @param second its first second, since 1970
   * @param again whether the clock was put back and has shown this minute before
   * @param leftOut the skipped minutes, if the clock was put forward to this one
   */
  record Minute(long second, LocalDateTime shown, boolean again, List<LocalDateTime> leftOut) {}

  private static final int SECONDS = 60;

  private final List<Minute> minutes = new ArrayList<>();

  /** Covers from the first time to before the second; both are whole minutes. */
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
