package dev.kagzi.engine;

import dev.kagzi.engine.schedule.Overlap;
import dev.kagzi.engine.schedule.ScheduleSpec;
import dev.kagzi.engine.schedule.Schedules;
import dev.kagzi.engine.value.Payload;
import org.jspecify.annotations.NullMarked;

/** Schedules with defaults. */
@NullMarked
public final class TestSchedules {
  private TestSchedules() {}

  /** A schedule with this expression, in UTC. */
  public static ScheduleSpec spec(
      String name, String taskQueue, String workflowType, String cronExpr) {
    return new ScheduleSpec(
        name,
        taskQueue,
        workflowType,
        "",
        cronExpr,
        ScheduleSpec.TIME_ZONE_DEFAULT,
        Payload.EMPTY,
        Overlap.ALLOW,
        ScheduleSpec.MAX_CATCHUP_DEFAULT,
        0,
        null,
        null,
        null,
        "",
        "");
  }

  /** A request for a new schedule that fires. */
  public static Schedules.Creation creation(String namespace, ScheduleSpec spec) {
    return new Schedules.Creation(namespace, spec, null, null, false, null);
  }
}
