package dev.kagzi.server.web.schedules;

import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.server.web.page.Problem;
import dev.kagzi.server.web.page.Suggestions;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the form shows.
 *
 * @param before the schedule that is changed; null for a new one
 * @param action where the form is sent
 * @param back the page before the form
 */
public record ScheduleFormModel(
    ScheduleForm form,
    Problem problem,
    Preview preview,
    Suggestions suggestions,
    List<String> zones,
    @Nullable ScheduleView before,
    String action,
    String back) {
  public ScheduleFormModel {
    zones = List.copyOf(zones);
  }
}
