package dev.kagzi.sdk.internal.wire;

import com.google.protobuf.Timestamp;
import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.ExplainWorkflowResponse;
import dev.kagzi.protocol.v1.Namespace;
import dev.kagzi.protocol.v1.OverlapPolicy;
import dev.kagzi.protocol.v1.RetryPolicy;
import dev.kagzi.protocol.v1.Signal;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.StepStatus;
import dev.kagzi.protocol.v1.WaitCause;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowSchedule;
import dev.kagzi.protocol.v1.WorkflowStatus;
import dev.kagzi.sdk.Encoded;
import dev.kagzi.sdk.ErrorKind;
import dev.kagzi.sdk.Failure;
import dev.kagzi.sdk.NamespaceInfo;
import dev.kagzi.sdk.Overlap;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunExplanation;
import dev.kagzi.sdk.RunInfo;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.ScheduleInfo;
import dev.kagzi.sdk.SignalInfo;
import dev.kagzi.sdk.StepInfo;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.Optional;

public final class ProtoMapper {
  private static final String TYPE = "type";

  /** Longer durations are sent as {@link Long#MAX_VALUE}. */
  private static final Duration MILLIS_MAX = Duration.ofMillis(Long.MAX_VALUE);

  private ProtoMapper() {}

  public static RetryPolicy retryPolicy(Retry retry) {
    RetryPolicy.Builder policy =
        RetryPolicy.newBuilder()
            .setMaximumAttempts(retry.attempts())
            .setInitialIntervalMs(millis(retry.initial()))
            .setBackoffCoefficient(retry.coefficient())
            .setMaximumIntervalMs(millis(retry.max()))
            .addAllNonRetryableErrors(retry.fatalErrors());
    retry.onlyKinds().forEach(kind -> policy.addRetryableKinds(kind.name()));
    retry.jitter().ifPresent(policy::setJitter);
    return policy.build();
  }

  /** Returns whole milliseconds, rounded up so that a positive duration never becomes zero. */
  public static long millis(Duration duration) {
    if (duration.compareTo(MILLIS_MAX) > 0) {
      return Long.MAX_VALUE;
    }
    long floor = duration.toMillis();
    return duration.equals(Duration.ofMillis(floor)) ? floor : floor + 1;
  }

  /** Rejects 0, which means "not set" in the protocol. */
  public static long timeoutMs(String what, Duration timeout) {
    if (timeout.isZero() || timeout.isNegative()) {
      throw new IllegalArgumentException(what + ": " + timeout + " (expected: > 0)");
    }
    return millis(timeout);
  }

  public static ErrorDetail.Builder error(Failure failure) {
    ErrorDetail.Builder error =
        ErrorDetail.newBuilder()
            .setMessage(failure.message())
            .setNonRetryable(failure.nonRetryable())
            .putAllMetadata(failure.metadata());
    if (!failure.type().isEmpty()) {
      error.putMetadata(TYPE, failure.type());
    }
    if (failure.kind() == ErrorKind.TIMEOUT) {
      error.setCode(ErrorCode.ERROR_CODE_TIMEOUT);
    }
    return error;
  }

  public static Failure failure(ErrorDetail error) {
    return new Failure(
        error.getMetadataOrDefault(TYPE, ""),
        error.getMessage(),
        error.getNonRetryable(),
        error.getMetadataMap());
  }

  public static RunStatus status(WorkflowStatus status) {
    return switch (status) {
      case WORKFLOW_STATUS_PENDING -> RunStatus.PENDING;
      case WORKFLOW_STATUS_RUNNING -> RunStatus.RUNNING;
      case WORKFLOW_STATUS_SLEEPING -> RunStatus.SLEEPING;
      case WORKFLOW_STATUS_COMPLETED -> RunStatus.COMPLETED;
      case WORKFLOW_STATUS_FAILED -> RunStatus.FAILED;
      case WORKFLOW_STATUS_CANCELLED -> RunStatus.CANCELLED;
      case WORKFLOW_STATUS_TIMED_OUT -> RunStatus.TIMED_OUT;
      case WORKFLOW_STATUS_SCHEDULED,
          WORKFLOW_STATUS_PAUSED,
          WORKFLOW_STATUS_UNSPECIFIED,
          UNRECOGNIZED ->
          throw new IllegalArgumentException(
              "status: " + status + " (expected: one of a run; is the server newer than the SDK?)");
    };
  }

  /**
   * Returns the status of a run that did not complete. A status that this SDK does not know counts
   * as FAILED: code that handles the failure must not break because the server is newer.
   */
  public static RunStatus failedStatus(String name) {
    return Arrays.stream(RunStatus.values())
        .filter(status -> status.name().equals(name))
        .findFirst()
        .orElse(RunStatus.FAILED);
  }

  public static WorkflowStatus status(RunStatus status) {
    return switch (status) {
      case PENDING -> WorkflowStatus.WORKFLOW_STATUS_PENDING;
      case RUNNING -> WorkflowStatus.WORKFLOW_STATUS_RUNNING;
      case SLEEPING -> WorkflowStatus.WORKFLOW_STATUS_SLEEPING;
      case COMPLETED -> WorkflowStatus.WORKFLOW_STATUS_COMPLETED;
      case FAILED -> WorkflowStatus.WORKFLOW_STATUS_FAILED;
      case CANCELLED -> WorkflowStatus.WORKFLOW_STATUS_CANCELLED;
      case TIMED_OUT -> WorkflowStatus.WORKFLOW_STATUS_TIMED_OUT;
    };
  }

  public static RunInfo runInfo(Workflow run, Optional<Encoded> output) {
    return new RunInfo(
        run.getRunId(),
        text(run.getExternalId()),
        run.getNamespace(),
        run.getTaskQueue(),
        run.getWorkflowType(),
        run.getVersion(),
        status(run.getStatus()),
        run.getAttempts(),
        instant(run.getCreatedAt()),
        time(run.hasStartedAt(), run.getStartedAt()),
        time(run.hasFinishedAt(), run.getFinishedAt()),
        time(run.hasWakeUpAt(), run.getWakeUpAt()),
        time(run.hasCancelRequestedAt(), run.getCancelRequestedAt()),
        text(run.getWorkerId()),
        blockReasonOrFailure(run),
        text(run.getParentRunId()),
        text(run.getParentStepId()),
        text(run.getContinuedTo()),
        text(run.getContinuedFrom()),
        run.getHeadersMap(),
        output);
  }

  public static StepInfo stepInfo(Step step) {
    return new StepInfo(
        step.getStepKey(),
        step.getName(),
        kind(step.getKind()),
        status(step.getStatus()),
        step.getAttemptNumber(),
        instant(step.hasStartedAt() ? step.getStartedAt() : step.getCreatedAt()),
        time(step.hasFinishedAt(), step.getFinishedAt()),
        step.hasError() ? Optional.of(failure(step.getError())) : Optional.empty(),
        text(step.getChildRunId()));
  }

  public static SignalInfo signalInfo(Signal signal) {
    return new SignalInfo(
        signal.getNumber(),
        signal.getSignalId(),
        signal.getName(),
        instant(signal.getSentAt()),
        time(signal.hasReceivedAt(), signal.getReceivedAt()),
        text(signal.getStepKey()));
  }

  private static StepInfo.Kind kind(StepKind kind) {
    return switch (kind) {
      case STEP_KIND_FUNCTION -> StepInfo.Kind.FUNCTION;
      case STEP_KIND_SLEEP -> StepInfo.Kind.SLEEP;
      case STEP_KIND_CHILD_WORKFLOW -> StepInfo.Kind.CHILD;
      case STEP_KIND_SIGNAL -> StepInfo.Kind.SIGNAL;
      case STEP_KIND_CALLBACK -> StepInfo.Kind.CALLBACK;
      case STEP_KIND_UNSPECIFIED, UNRECOGNIZED -> throw unknown("kind", kind);
    };
  }

  private static StepInfo.Status status(StepStatus status) {
    return switch (status) {
      case STEP_STATUS_PENDING -> StepInfo.Status.PENDING;
      case STEP_STATUS_RUNNING -> StepInfo.Status.RUNNING;
      case STEP_STATUS_COMPLETED -> StepInfo.Status.COMPLETED;
      case STEP_STATUS_FAILED -> StepInfo.Status.FAILED;
      case STEP_STATUS_UNSPECIFIED, UNRECOGNIZED -> throw unknown("status", status);
    };
  }

  private static IllegalArgumentException unknown(String what, Object found) {
    return new IllegalArgumentException(
        "%s: %s (expected: one of a step; is the server newer than the SDK?)"
            .formatted(what, found));
  }

  // The error of an earlier attempt, which a run keeps, must not hide why the run is blocked. A
  // RUNNING run keeps blocked_by until its claim ends, but its worker continues it.
  private static Optional<Failure> blockReasonOrFailure(Workflow run) {
    if (run.hasBlockedBy() && run.getStatus() == WorkflowStatus.WORKFLOW_STATUS_PENDING) {
      return Optional.of(failure(run.getBlockedBy()));
    }
    return run.hasError() ? Optional.of(failure(run.getError())) : Optional.empty();
  }

  public static RunExplanation explanation(ExplainWorkflowResponse response) {
    Optional<RunStatus> status =
        switch (response.getStatus()) {
          case WORKFLOW_STATUS_UNSPECIFIED, WORKFLOW_STATUS_SCHEDULED, WORKFLOW_STATUS_PAUSED ->
              Optional.empty();
          default -> Optional.of(status(response.getStatus()));
        };
    return new RunExplanation(
        status, response.getCausesList().stream().map(ProtoMapper::cause).toList());
  }

  private static RunExplanation.Cause cause(WaitCause cause) {
    return new RunExplanation.Cause(
        cause.getCode(),
        cause.getText(),
        cause.getRefsList().stream()
            .map(ref -> new RunExplanation.Ref(ref.getKind(), ref.getId()))
            .toList(),
        time(cause.hasAt(), cause.getAt()));
  }

  public static Instant instant(Timestamp timestamp) {
    return Instant.ofEpochSecond(timestamp.getSeconds(), timestamp.getNanos());
  }

  private static Optional<Instant> time(boolean isSet, Timestamp timestamp) {
    return isSet ? Optional.of(instant(timestamp)) : Optional.empty();
  }

  public static Timestamp timestamp(Instant instant) {
    return Timestamp.newBuilder()
        .setSeconds(instant.getEpochSecond())
        .setNanos(instant.getNano())
        .build();
  }

  private static Optional<String> text(String value) {
    return value.isEmpty() ? Optional.empty() : Optional.of(value);
  }

  public static OverlapPolicy overlap(Overlap overlap) {
    return switch (overlap) {
      case ALLOW -> OverlapPolicy.OVERLAP_POLICY_ALLOW;
      case SKIP -> OverlapPolicy.OVERLAP_POLICY_SKIP;
      case BUFFER_ONE -> OverlapPolicy.OVERLAP_POLICY_BUFFER_ONE;
    };
  }

  private static Overlap overlap(OverlapPolicy policy) {
    return switch (policy) {
      case OVERLAP_POLICY_ALLOW -> Overlap.ALLOW;
      case OVERLAP_POLICY_SKIP -> Overlap.SKIP;
      case OVERLAP_POLICY_BUFFER_ONE -> Overlap.BUFFER_ONE;
      case OVERLAP_POLICY_UNSPECIFIED, UNRECOGNIZED ->
          throw new IllegalArgumentException(
              "overlap_policy: "
                  + policy
                  + " (expected: one that is known; is the server newer than the SDK?)");
    };
  }

  public static ScheduleInfo schedule(WorkflowSchedule schedule) {
    return new ScheduleInfo(
        schedule.getScheduleId(),
        schedule.getName(),
        schedule.getNamespace(),
        schedule.getTaskQueue(),
        schedule.getWorkflowType(),
        schedule.getVersion(),
        schedule.getCronExpr(),
        ZoneId.of(schedule.getTimeZone()),
        schedule.getEnabled(),
        overlap(schedule.getOverlapPolicy()),
        schedule.getMaxCatchup(),
        Duration.ofMillis(schedule.getJitterMs()),
        schedule.getTotalRuns(),
        schedule.getSuccessfulRuns(),
        schedule.getFailedRuns(),
        schedule.getMissedRuns(),
        instant(schedule.getCreatedAt()),
        instant(schedule.getUpdatedAt()),
        time(schedule.hasNextFireAt(), schedule.getNextFireAt()),
        time(schedule.hasLastFiredAt(), schedule.getLastFiredAt()),
        time(schedule.hasWaitingSlot(), schedule.getWaitingSlot()),
        text(schedule.getProblem()));
  }

  public static NamespaceInfo namespace(Namespace namespace) {
    return new NamespaceInfo(
        namespace.getNamespace(),
        namespace.getDisplayName(),
        namespace.getDescription(),
        namespace.getEnabled(),
        namespace.hasRetentionMs()
            ? Optional.of(Duration.ofMillis(namespace.getRetentionMs()))
            : Optional.empty(),
        text(namespace.getFailureHandlerTaskQueue()),
        instant(namespace.getCreatedAt()),
        instant(namespace.getUpdatedAt()));
  }
}
