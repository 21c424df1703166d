package dev.kagzi.server.web.schedules;

import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.schedule.Schedules;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.server.web.page.Problem;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The next fires of an expression.
 *
 * @param problem why there are none; empty if there are, or if there is no expression yet
 */
public record Preview(List<Fire> fires, String problem, Instant now) {
  static final int FIRES = 10;
  private static final DateTimeFormatter LOCAL =
      DateTimeFormatter.ofPattern("EEE uuuu-MM-dd HH:mm:ss xxx", Locale.ENGLISH);

  /**
   * One fire.
   *
   * @param local on the clock of the schedule's time zone
   */
  public record Fire(Instant at, String local) {
    static Fire of(Instant at, String timeZone) {
      return new Fire(at, LOCAL.format(at.atZone(ZoneId.of(timeZone))));
    }
  }

  public Preview {
    fires = List.copyOf(fires);
  }

  static Preview of(Schedules schedules, String cronExpr, String timeZone, Instant now) {
    if (cronExpr.isEmpty()) {
      return new Preview(List.of(), "", now);
    }
    try {
      List<Fire> fires =
          schedules.preview(cronExpr, timeZone, FIRES, null).stream()
              .map(at -> Fire.of(at, timeZone))
              .toList();
      return new Preview(fires, "", now);
    } catch (Refusal refusal) {
      return new Preview(List.of(), Problem.of(refusal).text(), now);
    }
  }

  /** Returns the next fires of a schedule; the first one may have been set by hand. */
  static Preview of(Schedules schedules, ScheduleView schedule, Instant now) {
    Instant next = schedule.nextFireAt();
    if (next == null) {
      return new Preview(List.of(), "", now);
    }
    String zone = schedule.spec().timeZone();
    List<Fire> fires = new ArrayList<>(List.of(Fire.of(next, zone)));
    try {
      schedules
          .preview(schedule.spec().cronExpr(), zone, FIRES - 1, next)
          .forEach(at -> fires.add(Fire.of(at, zone)));
    } catch (Refusal never) {
      return new Preview(fires, "", now);
    }
    return new Preview(fires, "", now);
  }
}
