package dev.kagzi.sdk.internal.wire;

import com.google.protobuf.Timestamp;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.RetryPolicy;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowStatus;
import dev.kagzi.sdk.ContextMisuseException;
import dev.kagzi.sdk.Failure;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.PayloadException;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RetryAfterException;
import dev.kagzi.sdk.RunInfo;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.StepFailedException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** Messages to the SDK's types and back. */
public final class Protos {
  /** Key of the exception's class in an error's metadata. */
  private static final String TYPE = "type";

  private static final String STEP = "step";

  /** A longer message says no more, and has to fit into a report. */
  private static final int MESSAGE_CHARS_MAX = 8 * 1024;

  private Protos() {}

  public static RetryPolicy retryPolicy(Retry retry) {
    RetryPolicy.Builder policy =
        RetryPolicy.newBuilder()
            .setMaximumAttempts(retry.attempts())
            .setInitialIntervalMs(millis(retry.initial()))
            .setBackoffCoefficient(retry.coefficient())
            .setMaximumIntervalMs(millis(retry.max()))
            .addAllNonRetryableErrors(retry.fatalTypes());
    retry.jitter().ifPresent(policy::setJitter);
    return policy.build();
  }

  /** In whole milliseconds, rounded up: half of one is still a wait. */
  public static long millis(Duration duration) {
    long floor = duration.toMillis();
    return duration.equals(Duration.ofMillis(floor)) ? floor : floor + 1;
  }

  /** What user code threw, as it is recorded. */
  public static ErrorDetail error(Throwable thrown) {
    if (thrown instanceof StepFailedException failed) {
      return stepError(failed);
    }
    ErrorDetail.Builder error =
        ErrorDetail.newBuilder()
            .setMessage(message(thrown))
            .putMetadata(TYPE, thrown.getClass().getName());
    switch (thrown) {
      case NonRetryableException e -> error.setNonRetryable(true);
      case PayloadException e -> error.setNonRetryable(true);
      case ContextMisuseException e -> error.setNonRetryable(true);
      case RetryAfterException e -> error.setRetryAfterMs(millis(e.delay()));
      default -> {}
    }
    return error.build();
  }

  // A run that a step's failure ended shows the step's own error: that is what people look for.
  private static ErrorDetail stepError(StepFailedException failed) {
    Failure failure = failed.failure();
    return ErrorDetail.newBuilder()
        .setMessage(message(failed))
        .setNonRetryable(failure.nonRetryable())
        .putAllMetadata(failure.metadata())
        .putMetadata(TYPE, failure.type())
        .putMetadata(STEP, failed.step())
        .build();
  }

  private static String message(Throwable thrown) {
    String message = thrown.getMessage();
    if (message == null) {
      return thrown.getClass().getSimpleName();
    }
    return message.length() <= MESSAGE_CHARS_MAX
        ? message
        : message.substring(0, MESSAGE_CHARS_MAX) + "...";
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

  public static RunInfo runInfo(Workflow run) {
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
        run.hasStartedAt() ? Optional.of(instant(run.getStartedAt())) : Optional.empty(),
        run.hasFinishedAt() ? Optional.of(instant(run.getFinishedAt())) : Optional.empty(),
        run.hasWakeUpAt() ? Optional.of(instant(run.getWakeUpAt())) : Optional.empty(),
        text(run.getWorkerId()),
        run.hasError() ? Optional.of(failure(run.getError())) : Optional.empty());
  }

  public static Instant instant(Timestamp timestamp) {
    return Instant.ofEpochSecond(timestamp.getSeconds(), timestamp.getNanos());
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
}
