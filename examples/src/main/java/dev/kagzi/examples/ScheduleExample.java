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

/** A schedule that starts a report every second. */
final class ScheduleExample implements Example {
  private static final int REPORTS = 3;

  static final WorkflowType<String, String> REPORT =
      WorkflowType.of("report", String.class, String.class).queue("reports");

  static String report(WorkflowContext ctx, String topic) {
    return ctx.step("write", String.class, () -> "all about " + topic);
  }

  @Override
  public String about() {
    return "a schedule starts a report every second";
  }

  @Override
  @SuppressWarnings("try") // close() stops the worker
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
      while (completedRuns(schedule).size() < REPORTS) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
      }
      return REPORTS + " reports are written, at most one per second: " + haveDistinctIds(schedule);
    } finally {
      schedule.delete();
    }
  }

  private static List<RunInfo> completedRuns(Schedule schedule) {
    return schedule.runs().status(RunStatus.COMPLETED).stream().toList();
  }

  // The workflow id of a scheduled run contains its fire time.
  private static boolean haveDistinctIds(Schedule schedule) {
    List<String> ids = schedule.runs().stream().map(run -> run.workflowId().orElseThrow()).toList();
    return ids.stream().distinct().count() == ids.size();
  }
}
