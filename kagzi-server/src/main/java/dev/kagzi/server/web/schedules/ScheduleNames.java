package dev.kagzi.server.web.schedules;

import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.server.web.page.PageRequest;
import dev.kagzi.server.web.page.Show;

/** How pages name schedules and find the one that a path names. */
public final class ScheduleNames {
  private ScheduleNames() {}

  /** Returns the name, or a short id for a schedule without one. */
  public static String title(ScheduleView schedule) {
    return schedule.spec().name().isEmpty() ? Show.shortId(schedule.id()) : schedule.spec().name();
  }

  static RunId id(PageRequest request) {
    String text = request.parameter("schedule");
    return RunId.parse(text)
        .orElseThrow(() -> Refusal.invalid("schedule", text, "the id of a schedule"));
  }

  static ScheduleView find(PageRequest request) {
    return request.engine().schedules().get(request.namespace(), id(request));
  }

  static String href(PageRequest request) {
    return request.links().to("/schedules/" + id(request));
  }
}
