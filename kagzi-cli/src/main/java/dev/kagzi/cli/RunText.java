package dev.kagzi.cli;

import com.google.protobuf.Timestamp;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowStatus;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;

/** Runs as people read them. */
final class RunText {

  private static final int PAYLOAD_CHARS_MAX = 2_000;
  private static final int CELL_CHARS_MAX = 100;

  private RunText() {}

  static String status(WorkflowStatus status) {
    return status.name().replaceFirst("^WORKFLOW_STATUS_", "");
  }

  static String list(List<Workflow> runs) {
    Table table = new Table().row("RUN", "TYPE", "STATUS", "TRIES", "CREATED", "ID", "ERROR");
    for (Workflow run : runs) {
      table.row(
          run.getRunId(),
          run.getWorkflowType(),
          status(run.getStatus()),
          Integer.toString(run.getAttempts()),
          time(run.getCreatedAt()),
          run.getExternalId(),
          run.hasError() ? shortened(error(run.getError())) : "");
    }
    return table.text("");
  }

  /**
   * All that is known of a run: itself, then every attempt of every step.
   *
   * @param waitsFor why it does not go on; empty when there is nothing to say
   */
  static String details(Workflow run, String waitsFor, List<Step> steps) {
    Table table = new Table();
    table.row("run", run.getRunId());
    table.row("type", type(run));
    line(table, "id", run.getExternalId());
    table.row("queue", run.getTaskQueue());
    table.row("status", status(run.getStatus()));
    line(table, "waits for", waitsFor);
    table.row("attempts", Integer.toString(run.getAttempts()));
    table.row("created", time(run.getCreatedAt()));
    addTimes(table, run);
    line(table, "worker", run.getWorkerId());
    addRelatives(table, run);
    addTrouble(table, run);
    line(table, "input", payload(run.getInput()));
    line(table, "output", payload(run.getOutput()));
    return table.text("") + steps(steps);
  }

  private static String type(Workflow run) {
    String version = run.getVersion();
    return run.getWorkflowType() + (version.isEmpty() ? "" : " (version " + version + ")");
  }

  private static void addTimes(Table table, Workflow run) {
    if (run.hasStartedAt()) {
      table.row("started", time(run.getStartedAt()));
    }
    if (run.hasWakeUpAt()) {
      table.row("goes on", time(run.getWakeUpAt()));
    }
    if (run.hasDeadlineAt()) {
      table.row("deadline", time(run.getDeadlineAt()));
    }
    if (run.hasFinishedAt()) {
      String took = took(run.getCreatedAt(), run.getFinishedAt());
      table.row("finished", time(run.getFinishedAt()) + " (after " + took + ")");
    }
  }

  private static void addRelatives(Table table, Workflow run) {
    line(table, "retry of", run.getRetryOf());
    line(table, "handles", run.getFailedRunId());
    line(table, "handler", run.getOnFailureWorkflow());
    line(table, "handled by", run.getFailureHandlerRunId());
  }

  private static void addTrouble(Table table, Workflow run) {
    if (run.hasError()) {
      boolean ended = run.hasFinishedAt();
      table.row(ended ? "error" : "last error", error(run.getError()));
      line(table, "in step", run.getError().getMetadataOrDefault("step", ""));
      line(table, "stack", stack(run.getError()));
    }
    if (run.hasBlockedBy()) {
      table.row("blocked by", error(run.getBlockedBy()));
    }
  }

  /** Where it happened; --json has all of it. */
  private static String stack(ErrorDetail error) {
    return error
        .getMetadataOrDefault("stack", "")
        .lines()
        .filter(line -> line.strip().startsWith("at "))
        .findFirst()
        .map(String::strip)
        .orElse("");
  }

  private static void line(Table table, String name, String value) {
    if (!value.isEmpty()) {
      table.row(name, value);
    }
  }

  private static String steps(List<Step> steps) {
    if (steps.isEmpty()) {
      return "";
    }
    Table table = new Table().row("STEP", "TRY", "KIND", "STATUS", "STARTED", "TOOK", "ERROR");
    for (Step step : steps) {
      table.row(
          step.getName(),
          Integer.toString(step.getAttemptNumber()),
          step.getKind().name().replaceFirst("^STEP_KIND_", ""),
          step.getStatus().name().replaceFirst("^STEP_STATUS_", ""),
          time(step.hasStartedAt() ? step.getStartedAt() : step.getCreatedAt()),
          step.hasFinishedAt() && step.hasStartedAt()
              ? took(step.getStartedAt(), step.getFinishedAt())
              : "",
          step.hasError() ? shortened(error(step.getError())) : "");
    }
    return "\n" + table.text("");
  }

  /** {@code NETWORK java.net.ConnectException: refused}, as far as it is known. */
  static String error(ErrorDetail error) {
    String kind = error.getMetadataOrDefault("kind", "UNKNOWN");
    String type = error.getMetadataOrDefault("type", "");
    return (kind.equals("UNKNOWN") ? "" : kind + " ")
        + (type.isEmpty() ? "" : type + ": ")
        + error.getMessage();
  }

  private static String payload(Payload payload) {
    if (payload.getData().isEmpty()) {
      return "";
    }
    String text = MessageJson.payload(payload).toString();
    return text.length() <= PAYLOAD_CHARS_MAX
        ? text
        : text.substring(0, PAYLOAD_CHARS_MAX) + "... (--json shows all)";
  }

  private static String shortened(String text) {
    String line = text.replace('\n', ' ');
    return line.length() <= CELL_CHARS_MAX ? line : line.substring(0, CELL_CHARS_MAX) + "...";
  }

  static String time(Timestamp time) {
    return MessageJson.instant(time).truncatedTo(ChronoUnit.MILLIS).toString();
  }

  private static String took(Timestamp from, Timestamp to) {
    Duration took = Duration.between(MessageJson.instant(from), MessageJson.instant(to));
    long ms = Math.max(0, took.toMillis());
    if (ms < 1_000) {
      return ms + " ms";
    }
    return took.toMinutes() < 2
        ? String.format(Locale.ROOT, "%.1f s", ms / 1e3)
        : took.truncatedTo(ChronoUnit.SECONDS).toString().substring(2).toLowerCase(Locale.ROOT);
  }
}
