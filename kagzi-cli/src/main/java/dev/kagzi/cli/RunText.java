package dev.kagzi.cli;

import com.google.protobuf.Timestamp;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.PublishedValue;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.StepStatus;
import dev.kagzi.protocol.v1.WaitCause;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowStatus;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;

/** Formats runs for people. */
final class RunText {

  private static final int PAYLOAD_CHARS_MAX = 2_000;
  private static final int CELL_CHARS_MAX = 100;

  private RunText() {}

  static String status(WorkflowStatus status) {
    return status.name().replaceFirst("^WORKFLOW_STATUS_", "");
  }

  static String list(List<Workflow> runs) {
    Table table =
        new Table().row("RUN", "TYPE", "STATUS", "TRIES", "CREATED", "EXTERNAL ID", "ERROR");
    for (Workflow run : runs) {
      table.row(
          run.getRunId(),
          run.getWorkflowType(),
          isBlocked(run) ? "BLOCKED" : status(run.getStatus()),
          Integer.toString(run.getAttempts()),
          time(run.getCreatedAt()),
          run.getExternalId(),
          problem(run));
    }
    return table.text("");
  }

  /**
   * A blocked run waits for other code. A RUNNING run keeps blocked_by until its claim ends, so
   * only PENDING counts.
   */
  static boolean isBlocked(Workflow run) {
    return run.hasBlockedBy() && run.getStatus() == WorkflowStatus.WORKFLOW_STATUS_PENDING;
  }

  private static String problem(Workflow run) {
    if (isBlocked(run)) {
      return shortened(ErrorText.of(run.getBlockedBy()));
    }
    return run.hasError() ? shortened(ErrorText.of(run.getError())) : "";
  }

  /**
   * Formats all details of a run, then every attempt of every step.
   *
   * @param handlers runs that handle its failure
   * @param causes why it does not continue, or what it is doing
   * @param published the values that its code has published
   */
  static String details(
      Workflow run,
      List<Workflow> handlers,
      List<WaitCause> causes,
      List<PublishedValue> published,
      List<Step> steps) {
    Table table = new Table();
    table.row("run", run.getRunId());
    table.row("type", type(run.getWorkflowType(), run.getVersion()));
    line(table, "external id", run.getExternalId());
    table.row("queue", run.getTaskQueue());
    table.row("status", status(run.getStatus()));
    causes.forEach(cause -> table.row("why", cause.getText()));
    table.row("attempts", Integer.toString(run.getAttempts()));
    line(table, "crashes", run.getCrashes() == 0 ? "" : Integer.toString(run.getCrashes()));
    int signals = run.getBufferedSignals();
    line(table, "signals", signals == 0 ? "" : signals + " not received");
    table.row("created", time(run.getCreatedAt()));
    addTimes(table, run);
    line(table, "worker", run.getWorkerId());
    addRelatives(table, run);
    FailureHandlers.addTo(table, handlers);
    addTrouble(table, run);
    new TreeMap<>(run.getHeadersMap())
        .forEach((name, value) -> table.row("header", shortened(name + "=" + value)));
    published.forEach(
        value -> table.row("published", value.getName() + " = " + shortPayload(value.getValue())));
    line(table, "input", payload(run.getInput()));
    line(table, "output", payload(run.getOutput()));
    return table.text("") + (steps.isEmpty() ? "" : "\n" + steps(run, steps));
  }

  static String type(String type, String version) {
    return switch (version) {
      case "" -> type;
      case "*" -> type + " (any version)";
      default -> type + " (version " + version + ")";
    };
  }

  private static void addTimes(Table table, Workflow run) {
    if (run.hasStartedAt()) {
      table.row("started", time(run.getStartedAt()));
    }
    if (run.hasWakeUpAt()) {
      table.row("wakes up", time(run.getWakeUpAt()));
    }
    if (run.hasCancelRequestedAt()) {
      table.row("cancel requested", time(run.getCancelRequestedAt()));
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
    if (run.hasParentRunId()) {
      String detached = run.getDetached() ? ", detached" : "";
      table.row("child of", run.getParentRunId() + ", step " + run.getParentStepId() + detached);
    }
    line(table, "continues", run.getContinuedFrom());
    line(table, "continued as", run.getContinuedTo());
    line(table, "retry of", run.getRetryOf());
    line(table, "handles", run.getFailedRunId());
    line(table, "handler", run.getOnFailureWorkflow());
  }

  private static void addTrouble(Table table, Workflow run) {
    if (run.hasError()) {
      boolean ended = run.hasFinishedAt();
      table.row(ended ? "error" : "last error", ErrorText.of(run.getError()));
      line(table, "in step", run.getError().getMetadataOrDefault("step", ""));
      ErrorText.causes(run.getError()).forEach(cause -> table.row("caused by", cause));
      line(table, "stack", ErrorText.place(run.getError()));
    }
    if (isBlocked(run)) {
      table.row("blocked by", ErrorText.of(run.getBlockedBy()));
    }
  }

  private static void line(Table table, String name, String value) {
    if (!value.isEmpty()) {
      table.row(name, value);
    }
  }

  /** Formats every attempt of every step. */
  static String steps(Workflow run, List<Step> steps) {
    boolean children = steps.stream().anyMatch(Step::hasChildRunId);
    Table table =
        children
            ? new Table().row("STEP", "TRY", "KIND", "STATUS", "STARTED", "TOOK", "CHILD", "ERROR")
            : new Table().row("STEP", "TRY", "KIND", "STATUS", "STARTED", "TOOK", "ERROR");
    for (Step step : steps) {
      List<String> cells = new ArrayList<>();
      cells.add(step.getStepKey().isEmpty() ? step.getName() : step.getStepKey());
      cells.add(Integer.toString(step.getAttemptNumber()));
      cells.add(step.getKind().name().replaceFirst("^STEP_KIND_", ""));
      cells.add(status(run, step));
      cells.add(time(step.hasStartedAt() ? step.getStartedAt() : step.getCreatedAt()));
      cells.add(
          step.hasFinishedAt() && step.hasStartedAt()
              ? took(step.getStartedAt(), step.getFinishedAt())
              : "");
      if (children) {
        cells.add(step.getChildRunId());
      }
      cells.add(step.hasError() ? shortened(ErrorText.of(step.getError())) : "");
      table.row(cells.toArray(String[]::new));
    }
    return table.text("");
  }

  private static String status(Workflow run, Step step) {
    if (isInterrupted(run, step)) {
      return "INTERRUPTED";
    }
    return isTimedOutWait(step)
        ? "TIMED_OUT"
        : step.getStatus().name().replaceFirst("^STEP_STATUS_", "");
  }

  /** A wait for a signal or an answer that has reached its timeout is COMPLETED without output. */
  private static boolean isTimedOutWait(Step step) {
    return step.getKind() == StepKind.STEP_KIND_SIGNAL
        && step.getStatus() == StepStatus.STEP_STATUS_COMPLETED
        && !step.hasOutput();
  }

  /** A step of a claim that has ended is stored as RUNNING, but no worker executes it. */
  private static boolean isInterrupted(Workflow run, Step step) {
    boolean isHeld =
        run.getStatus() == WorkflowStatus.WORKFLOW_STATUS_RUNNING
            && step.getStepId().endsWith("." + run.getEpoch());
    return step.getKind() == StepKind.STEP_KIND_FUNCTION
        && step.getStatus() == StepStatus.STEP_STATUS_RUNNING
        && !isHeld;
  }

  /** Formats the whole payload on one line. */
  static String wholePayload(Payload payload) {
    return payload.getData().isEmpty() ? "" : MessageJson.payload(payload).toString();
  }

  /** Formats a payload for a cell of a table. */
  static String shortPayload(Payload payload) {
    return shortened(wholePayload(payload));
  }

  private static String payload(Payload payload) {
    String text = wholePayload(payload);
    return text.length() <= PAYLOAD_CHARS_MAX
        ? text
        : text.substring(0, PAYLOAD_CHARS_MAX) + "... (-o json shows all)";
  }

  private static String shortened(String text) {
    String line = text.replace('\n', ' ');
    return line.length() <= CELL_CHARS_MAX ? line : line.substring(0, CELL_CHARS_MAX) + "...";
  }

  static String time(Timestamp time) {
    return MessageJson.instant(time).truncatedTo(ChronoUnit.MILLIS).toString();
  }

  private static String took(Timestamp from, Timestamp to) {
    return time(Duration.between(MessageJson.instant(from), MessageJson.instant(to)).toMillis());
  }

  /** Formats a length of time: {@code 20 ms}, {@code 3.5 s}, {@code 5m20s}. */
  static String time(long lengthMs) {
    long ms = Math.max(0, lengthMs);
    Duration took = Duration.ofMillis(ms);
    if (ms < 1_000) {
      return ms + " ms";
    }
    return took.toMinutes() < 2
        ? String.format(Locale.ROOT, "%.1f s", ms / 1e3)
        : took.truncatedTo(ChronoUnit.SECONDS).toString().substring(2).toLowerCase(Locale.ROOT);
  }
}
