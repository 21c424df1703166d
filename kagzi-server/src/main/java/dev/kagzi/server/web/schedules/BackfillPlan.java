package dev.kagzi.server.web.schedules;

import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.server.web.page.PageRequest;
import dev.kagzi.server.web.page.Problem;
import dev.kagzi.server.web.page.Show;
import dev.kagzi.server.web.page.TimeText;
import dev.kagzi.server.web.schedules.Preview.Fire;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;

/**
 * What the confirmation page of a back-fill shows: the slots that it covers.
 *
 * @param slots those between the times; the number is limited
 * @param isAsked whether both times are valid, so that the page asks for confirmation
 * @param requestId identifies the confirmation of a user, so that a form that is sent twice takes
 *     effect once
 */
public record BackfillPlan(
    ScheduleView schedule,
    String from,
    String to,
    Problem problem,
    List<Fire> slots,
    boolean isAsked,
    String requestId) {
  private static final int SLOTS_MAX = 1_000;
  private static final int DATE_AND_TIME = "2026-01-31T12:00".length();

  public BackfillPlan {
    slots = List.copyOf(slots);
  }

  /** Suggests the last day. */
  static BackfillPlan empty(ScheduleView schedule, Instant now) {
    Instant to = now.truncatedTo(ChronoUnit.MINUTES);
    return new BackfillPlan(
        schedule,
        field(to.minus(Duration.ofDays(1))),
        field(to),
        Problem.NONE,
        List.of(),
        false,
        "");
  }

  private static String field(Instant time) {
    return time.toString().substring(0, DATE_AND_TIME);
  }

  static BackfillPlan refused(ScheduleView schedule, String from, String to, Problem problem) {
    return new BackfillPlan(schedule, from, to, problem, List.of(), false, "");
  }

  static BackfillPlan of(PageRequest request, ScheduleView schedule, String from, String to) {
    try {
      Instant first = TimeText.instant("from", from);
      Instant end = TimeText.instant("to", to);
      if (!first.isBefore(end)) {
        throw Refusal.invalid("from", from, "before " + to);
      }
      if (end.isAfter(request.now())) {
        throw Refusal.invalid("to", to, "not after " + request.now() + ": a time that is over");
      }
      return new BackfillPlan(
          schedule,
          from,
          to,
          Problem.NONE,
          slots(request, schedule, first, end),
          true,
          RunId.next().toString());
    } catch (Refusal refusal) {
      return refused(schedule, from, to, Problem.of(refusal));
    }
  }

  private static List<Fire> slots(
      PageRequest request, ScheduleView schedule, Instant from, Instant before) {
    String zone = schedule.spec().timeZone();
    try {
      return request
          .engine()
          .schedules()
          .preview(schedule.spec().cronExpr(), zone, SLOTS_MAX, from.minusSeconds(1))
          .stream()
          .filter(slot -> slot.isBefore(before))
          .map(slot -> Fire.of(slot, zone))
          .toList();
    } catch (Refusal never) {
      return List.of();
    }
  }

  public String title() {
    return ScheduleNames.title(schedule);
  }

  /** Returns the number of slots, such as "1 slot" or "1,000 or more slots". */
  public String counted() {
    return switch (slots.size()) {
      case 1 -> "1 slot";
      case SLOTS_MAX -> Show.number(SLOTS_MAX) + " or more slots";
      default -> Show.number(slots.size()) + " slots";
    };
  }
}
