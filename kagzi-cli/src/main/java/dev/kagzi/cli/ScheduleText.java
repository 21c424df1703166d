package dev.kagzi.cli;

import com.google.protobuf.Timestamp;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowSchedule;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;

final class ScheduleText {
  private static final DateTimeFormatter LOCAL =
      DateTimeFormatter.ofPattern("EEE yyyy-MM-dd HH:mm:ss xxx", Locale.ROOT);

  private ScheduleText() {}

  static String list(List<WorkflowSchedule> schedules) {
    Table table =
        new Table()
            .row("NAME", "ID", "CRON", "ZONE", "TYPE", "QUEUE", "NEXT", "RUNS", "FAILED", "MISSED");
    for (WorkflowSchedule schedule : schedules) {
      table.row(
          schedule.getName().isEmpty() ? "-" : schedule.getName(),
          schedule.getScheduleId(),
          schedule.getCronExpr(),
          schedule.getTimeZone(),
          schedule.getWorkflowType(),
          schedule.getTaskQueue(),
          next(schedule),
          Long.toString(schedule.getTotalRuns()),
          Long.toString(schedule.getFailedRuns()),
          Long.toString(schedule.getMissedRuns()));
    }
    return table.text("");
  }

  private static String next(WorkflowSchedule schedule) {
    if (!schedule.getEnabled()) {
      return "paused";
    }
    return schedule.hasNextFireAt() ? time(schedule.getNextFireAt()) : "never";
  }

  static String details(WorkflowSchedule schedule) {
    Table table = new Table();
    table.row("schedule", schedule.getScheduleId());
    line(table, "name", schedule.getName());
    table.row("cron", schedule.getCronExpr() + " (" + schedule.getTimeZone() + ")");
    table.row("next", next(schedule));
    line(table, "problem", schedule.getProblem());
    table.row("type", schedule.getWorkflowType());
    line(table, "version", schedule.getVersion());
    table.row("queue", schedule.getTaskQueue());
    table.row("overlap", schedule.getOverlapPolicy().name().replaceFirst("^OVERLAP_POLICY_", ""));
    if (schedule.hasWaitingSlot()) {
      table.row("waiting", "the slot of " + time(schedule.getWaitingSlot()));
    }
    table.row("max catch-up", Integer.toString(schedule.getMaxCatchup()));
    lineMs(table, "jitter", schedule.getJitterMs());
    lineMs(table, "time-out", schedule.getExecutionTimeoutMs());
    lineMs(table, "step time-out", schedule.getStepTimeoutMs());
    line(table, "handler", schedule.getOnFailureWorkflow());
    table.row(
        "runs",
        "%d started, %d completed, %d failed; %s missed"
            .formatted(
                schedule.getTotalRuns(),
                schedule.getSuccessfulRuns(),
                schedule.getFailedRuns(),
                Plural.of(schedule.getMissedRuns(), "slot")));
    if (schedule.hasLastFiredAt()) {
      table.row("last fired", time(schedule.getLastFiredAt()));
    }
    table.row("created", time(schedule.getCreatedAt()));
    table.row("updated", time(schedule.getUpdatedAt()));
    if (!schedule.getInput().getData().isEmpty()) {
      table.row("input", MessageJson.payload(schedule.getInput()).toString());
    }
    return table.text("");
  }

  static String runs(List<Workflow> runs) {
    Table table = new Table().row("RUN", "SLOT", "STATUS", "CREATED", "FINISHED");
    for (Workflow run : runs) {
      table.row(
          run.getRunId(),
          run.hasFireAt() ? time(run.getFireAt()) : "triggered",
          RunText.status(run.getStatus()),
          time(run.getCreatedAt()),
          run.hasFinishedAt() ? time(run.getFinishedAt()) : "");
    }
    return table.text("");
  }

  /** Formats each time in UTC and in local time of the zone. */
  static String times(List<Timestamp> times, String zone) {
    Table table = new Table();
    for (Timestamp time : times) {
      Instant instant = MessageJson.instant(time);
      table.row(instant.toString(), LOCAL.format(instant.atZone(ZoneId.of(zone))));
    }
    return table.text("");
  }

  private static void line(Table table, String name, String value) {
    if (!value.isEmpty()) {
      table.row(name, value);
    }
  }

  private static void lineMs(Table table, String name, long millis) {
    if (millis != 0) {
      table.row(name, Duration.ofMillis(millis).toString().substring(2).toLowerCase(Locale.ROOT));
    }
  }

  private static String time(Timestamp time) {
    return RunText.time(time);
  }
}
