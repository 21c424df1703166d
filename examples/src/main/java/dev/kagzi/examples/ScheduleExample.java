package dev.kagzi.examples;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Overlap;
import dev.kagzi.sdk.RunInfo;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Schedule;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A report that is written by the clock, here every second. */
final class ScheduleExample implements Example {
  private static final int REPORTS = 3;

  static final WorkflowType<String, String> REPORT =
      WorkflowType.of("report", String.class, String.class).queue("reports");

  static String report(WorkflowContext ctx, String about) {
    return ctx.step("write", String.class, () -> "all about " + about);
  }

  @Override
  public String about() {
    return "a report is written every second, by a schedule";
  }

  @Override
  @SuppressWarnings("try") // the worker works while it is open
  public String run(Kagzi kagzi) {
    Schedule schedule = kagzi.schedule("reports-of-the-example");
    try (Worker worker = kagzi.worker().workflow(REPORT, ScheduleExample::report).start()) {
      schedule
          .workflow(REPORT)
          .cron("* * * * * *")
          .zone("Europe/Berlin")
          .overlap(Overlap.SKIP)
          .input("sales")
          .createOrUpdate();
      while (written(schedule).size() < REPORTS) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
      }
      return REPORTS + " reports are written, and no second has two: " + areApart(schedule);
    } finally {
      schedule.delete();
    }
  }

  private static List<RunInfo> written(Schedule schedule) {
    return schedule.runs().status(RunStatus.COMPLETED).stream().toList();
  }

  private static boolean areApart(Schedule schedule) {
    List<String> ids = schedule.runs().stream().map(run -> run.workflowId().orElseThrow()).toList();
    return ids.stream().distinct().count() == ids.size();
  }
}
