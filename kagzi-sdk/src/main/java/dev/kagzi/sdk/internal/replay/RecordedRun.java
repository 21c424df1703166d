package dev.kagzi.sdk.internal.replay;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.StepStatus;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowStatus;
import dev.kagzi.sdk.internal.history.HistoryFile;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

record RecordedRun(Workflow run, List<Entry> entries) {
  /** The server's message for steps that were open when the run ended. */
  private static final String CUT_SHORT = "cut short: the run ended first";

  /**
   * One step.
   *
   * @param began when its first attempt began
   * @param over the time after which the code may have asked for later steps: the step's end, or
   *     the start of a child, which the code does not wait for
   * @param ofLastAttempt whether the run's last attempt reached it; earlier attempts may have taken
   *     another path
   */
  record Entry(RecordedStep step, int number, Instant began, Instant over, boolean ofLastAttempt) {
    String key() {
      return step.getStepKey();
    }

    /**
     * Whether the code asked for this step before the other, as far as times show. Steps of one
     * report have the same time; a sleep is the last of them.
     */
    boolean precedes(Entry other) {
      int order = over.compareTo(other.began);
      return order < 0 || (order == 0 && other.step.getKind() == StepKind.STEP_KIND_SLEEP);
    }
  }

  static RecordedRun of(HistoryFile file) {
    Map<String, List<Step>> byKey = new LinkedHashMap<>();
    for (Step step : file.steps()) {
      byKey.computeIfAbsent(step.getStepKey(), key -> new ArrayList<>()).add(step);
    }
    List<Entry> unnumbered = new ArrayList<>();
    for (List<Step> attempts : byKey.values()) {
      attempts.sort(Comparator.comparingInt(Step::getAttemptNumber));
      unnumbered.add(entry(file.run(), attempts));
    }
    unnumbered.sort(
        Comparator.comparing(Entry::began).thenComparing(Entry::over).thenComparing(Entry::key));
    List<Entry> entries = new ArrayList<>();
    for (Entry each : unnumbered) {
      entries.add(
          new Entry(each.step, entries.size() + 1, each.began, each.over, each.ofLastAttempt));
    }
    return new RecordedRun(file.run(), entries);
  }

  private static Entry entry(Workflow run, List<Step> attempts) {
    Step last = attempts.getLast();
    Instant began = began(attempts.getFirst());
    RecordedStep recorded = recorded(run, last);
    boolean ended = recorded.hasOutput() || recorded.hasFinalFailure() || recorded.hasTimedOut();
    Instant over =
        last.getKind() == StepKind.STEP_KIND_CHILD_WORKFLOW
            ? began
            : ended && last.hasFinishedAt()
                ? ProtoMapper.instant(last.getFinishedAt())
                : Instant.MAX;
    return new Entry(recorded, 0, began, over, last.getRunAttempt() == run.getAttempts());
  }

  private static Instant began(Step step) {
    return ProtoMapper.instant(step.hasStartedAt() ? step.getStartedAt() : step.getCreatedAt());
  }

  /** The step's last attempt, as a worker that continues the run would receive it. */
  private static RecordedStep recorded(Workflow run, Step step) {
    RecordedStep.Builder recorded =
        RecordedStep.newBuilder()
            .setStepKey(step.getStepKey())
            .setAttempt(step.getAttemptNumber())
            .setKind(step.getKind())
            .setInputHash(step.getInputHash())
            .setChildRunId(step.getChildRunId());
    if (step.getKind() == StepKind.STEP_KIND_CALLBACK) {
      // Histories have no URLs, which contain secrets.
      recorded.setCallbackUrl("https://replay.invalid/callbacks/" + step.getStepKey());
    }
    boolean completed = step.getStatus() == StepStatus.STEP_STATUS_COMPLETED;
    if (completed && step.getKind() == StepKind.STEP_KIND_SIGNAL && !step.hasOutput()) {
      recorded.setTimedOut(true);
    } else if (completed) {
      recorded.setOutput(step.getOutput());
    } else if (step.getStatus() != StepStatus.STEP_STATUS_FAILED || isCutShort(step.getError())) {
      recorded.setOpen(true);
    } else if (step.getFinal() && step.getRunAttempt() == run.getAttempts()) {
      recorded.setFinalFailure(step.getError());
    } else {
      recorded.setRetry(RecordedStep.Retry.newBuilder().setError(step.getError()));
    }
    return recorded.build();
  }

  private static boolean isCutShort(ErrorDetail error) {
    return error.getMessage().equals(CUT_SHORT);
  }

  /**
   * Whether the run ended because its code returned or threw, and not because it was cancelled or
   * terminated, timed out, or exceeded the crash limit.
   */
  boolean isEndedByCode() {
    return switch (run.getStatus()) {
      case WORKFLOW_STATUS_COMPLETED -> true;
      case WORKFLOW_STATUS_FAILED -> {
        String type = run.getError().getMetadataOrDefault("type", "");
        boolean thrown = !type.isEmpty() && !type.equals("terminated");
        yield thrown || run.getError().containsMetadata("step");
      }
      default -> false;
    };
  }

  boolean isCompleted() {
    return run.getStatus() == WorkflowStatus.WORKFLOW_STATUS_COMPLETED;
  }

  boolean isContinued() {
    return !run.getContinuedTo().isEmpty();
  }

  String status() {
    return ProtoMapper.status(run.getStatus()).name();
  }

  Task task() {
    Task.Builder task =
        Task.newBuilder()
            .setRunId(run.getRunId())
            .setEpoch(1)
            .setWorkflowType(run.getWorkflowType())
            .putAllHeaders(run.getHeadersMap())
            .setVersion(run.getVersion())
            .setAttempt(run.getAttempts())
            .setInput(run.getInput())
            .setExternalId(run.getExternalId())
            .setCreatedAt(run.getCreatedAt());
    entries.forEach(entry -> task.addSteps(entry.step));
    return task.build();
  }
}
