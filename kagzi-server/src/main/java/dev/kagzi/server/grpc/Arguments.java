package dev.kagzi.server.grpc;

import com.google.protobuf.Timestamp;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepRef;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.value.WorkerStatus;
import dev.kagzi.protocol.v1.ClaimRef;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.PageRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Converts request fields into the engine's values. Rejects what the wire format allows but no
 * client can mean: malformed ids, unknown enum numbers, times out of range.
 */
final class Arguments {
  private static final String DEFAULT_NAMESPACE = "default";
  // The range of google.protobuf.Timestamp: year 1 to 9999.
  private static final long TIMESTAMP_SECONDS_MIN = -62_135_596_800L;
  private static final long TIMESTAMP_SECONDS_MAX = 253_402_300_799L;
  private static final long DURATION_SECONDS_MAX = 100L * 366 * 24 * 60 * 60;
  private static final int NANOS_MAX = 999_999_999;

  /** The allowed values of "kind" in a failure's metadata (ErrorDetail in common.proto). */
  private static final List<String> ERROR_KINDS =
      List.of(
          "NETWORK",
          "TIMEOUT",
          "DATABASE",
          "RATE_LIMIT",
          "UNAVAILABLE",
          "NOT_FOUND",
          "UNAUTHORIZED",
          "BAD_REQUEST",
          "VALIDATION",
          "UNKNOWN");

  private Arguments() {}

  /** An empty name means the default namespace. */
  static String namespace(String name) {
    // Look-ups use the name in SQL without another check.
    Limits.checkStorable("namespace", name);
    return name.isEmpty() ? DEFAULT_NAMESPACE : name;
  }

  static @Nullable String namespaceOrAny(boolean isSet, String name) {
    return isSet ? namespace(name) : null;
  }

  static RunId runId(String text) {
    return runId("run_id", text);
  }

  static RunId runId(String field, String text) {
    return RunId.parse(text).orElseThrow(() -> notUuid(field, text));
  }

  /** Returns null if the caller sent none. */
  static @Nullable RunId runIdOrNull(String field, String text) {
    return text.isEmpty() ? null : runId(field, text);
  }

  /** Returns null if the caller sent none. */
  static @Nullable UUID requestId(String text) {
    return text.isEmpty() ? null : runId("request_id", text).value();
  }

  static WorkerId workerId(String text) {
    return workerId("worker_id", text);
  }

  static WorkerId workerId(String field, String text) {
    return WorkerId.parse(text).orElseThrow(() -> notUuid(field, text));
  }

  private static Refusal notUuid(String field, String text) {
    return Refusal.invalid(field, text, "a UUID of 36 characters");
  }

  /** Parses a step id, which must belong to the run that the request names. */
  static StepRef stepRef(String runId, String stepId) {
    RunId run = runId(runId);
    StepRef ref = StepRef.parse(stepId);
    if (!ref.runId().equals(run)) {
      throw Refusal.invalid("step_id", stepId, "a step of run " + run);
    }
    return ref;
  }

  static Claim claim(String runId, int epoch) {
    if (epoch < 1) {
      throw Refusal.invalid("epoch", epoch, ">= 1, the epoch of the task");
    }
    return new Claim(runId(runId), epoch);
  }

  static Claim claim(ClaimRef claim) {
    return claim(claim.getRunId(), claim.getEpoch());
  }

  static Payload payload(dev.kagzi.protocol.v1.Payload payload) {
    return payload.getData().isEmpty() && payload.getMetadataCount() == 0
        ? Payload.EMPTY
        : new Payload(payload.getData().toByteArray(), payload.getMetadataMap());
  }

  static Failure failure(ErrorDetail error) {
    return new Failure(
            errorCode(error.getCode()),
            error.getMessage(),
            error.getNonRetryable(),
            notNegative("error.retry_after_ms", error.getRetryAfterMs()),
            error.getSubject(),
            error.getSubjectId(),
            error.getMetadataMap())
        .bounded();
  }

  private static ErrorCode errorCode(dev.kagzi.protocol.v1.ErrorCode code) {
    return switch (code) {
      case ERROR_CODE_UNSPECIFIED -> ErrorCode.UNSPECIFIED;
      case ERROR_CODE_NOT_FOUND -> ErrorCode.NOT_FOUND;
      case ERROR_CODE_INVALID_ARGUMENT -> ErrorCode.INVALID_ARGUMENT;
      case ERROR_CODE_PRECONDITION_FAILED -> ErrorCode.PRECONDITION_FAILED;
      case ERROR_CODE_CONFLICT -> ErrorCode.CONFLICT;
      case ERROR_CODE_UNAUTHORIZED -> ErrorCode.UNAUTHORIZED;
      case ERROR_CODE_UNAVAILABLE -> ErrorCode.UNAVAILABLE;
      case ERROR_CODE_INTERNAL -> ErrorCode.INTERNAL;
      case ERROR_CODE_TIMEOUT -> ErrorCode.TIMEOUT;
      case UNRECOGNIZED -> throw unknownEnum("error.code");
    };
  }

  /** Unset fields take the server's defaults, within the bounds of the fields that are set. */
  static RetryPolicy retryPolicy(dev.kagzi.protocol.v1.RetryPolicy policy, RetryPolicy defaults) {
    checkErrors(policy);
    int attemptsMax = policy.getMaximumAttempts();
    long delayFirstMs = policy.getInitialIntervalMs();
    double coefficient = policy.getBackoffCoefficient();
    long delayMaxMs = policy.getMaximumIntervalMs();
    long first = delayFirstMs == 0 ? defaults.delayFirstMs() : delayFirstMs;
    if (delayFirstMs == 0 && delayMaxMs > 0) {
      first = Math.min(first, delayMaxMs);
    }
    return new RetryPolicy(
        attemptsMax == 0 ? defaults.attemptsMax() : attemptsMax,
        first,
        coefficient == 0 ? defaults.coefficient() : coefficient,
        delayMaxMs == 0 ? Math.max(defaults.delayMaxMs(), first) : delayMaxMs,
        policy.hasJitter() ? policy.getJitter() : defaults.jitter(),
        policy.getNonRetryableErrorsList(),
        policy.getRetryableKindsList());
  }

  private static void checkErrors(dev.kagzi.protocol.v1.RetryPolicy policy) {
    for (String error : policy.getNonRetryableErrorsList()) {
      // Every message starts with the empty text, so this entry would disable all retries.
      if (error.isEmpty()) {
        throw Refusal.invalid(
            "retry_policy.non_retryable_errors",
            "\"\"",
            "a type, a package with a dot at its end, a kind, or the beginning of a message;"
                + " maximum_attempts 1 for no retry");
      }
      Limits.checkStorable("retry_policy.non_retryable_errors", error);
    }
    for (String kind : policy.getRetryableKindsList()) {
      if (!ERROR_KINDS.contains(kind)) {
        throw Refusal.invalid(
            "retry_policy.retryable_kinds", kind, "one of " + String.join(", ", ERROR_KINDS));
      }
    }
  }

  /** An unspecified kind means a function. */
  static StepKind stepKind(dev.kagzi.protocol.v1.StepKind kind) {
    return switch (kind) {
      case STEP_KIND_UNSPECIFIED, STEP_KIND_FUNCTION -> StepKind.FUNCTION;
      case STEP_KIND_SLEEP -> StepKind.SLEEP;
      case STEP_KIND_CHILD_WORKFLOW -> StepKind.CHILD_WORKFLOW;
      case STEP_KIND_SIGNAL ->
          throw Refusal.invalid("kind", "SIGNAL", "another kind; report a receive instead");
      case STEP_KIND_CALLBACK ->
          throw Refusal.invalid("kind", "CALLBACK", "another kind; report a callback instead");
      case UNRECOGNIZED -> throw unknownEnum("kind");
    };
  }

  static RunStatus runStatus(String field, dev.kagzi.protocol.v1.WorkflowStatus status) {
    return switch (status) {
      case WORKFLOW_STATUS_PENDING -> RunStatus.PENDING;
      case WORKFLOW_STATUS_RUNNING -> RunStatus.RUNNING;
      case WORKFLOW_STATUS_SLEEPING -> RunStatus.SLEEPING;
      case WORKFLOW_STATUS_COMPLETED -> RunStatus.COMPLETED;
      case WORKFLOW_STATUS_FAILED -> RunStatus.FAILED;
      case WORKFLOW_STATUS_CANCELLED -> RunStatus.CANCELLED;
      case WORKFLOW_STATUS_SCHEDULED -> RunStatus.SCHEDULED;
      case WORKFLOW_STATUS_PAUSED -> RunStatus.PAUSED;
      case WORKFLOW_STATUS_TIMED_OUT -> RunStatus.TIMED_OUT;
      case WORKFLOW_STATUS_UNSPECIFIED, UNRECOGNIZED -> throw unknownEnum(field);
    };
  }

  static WorkerStatus workerStatus(String field, dev.kagzi.protocol.v1.WorkerStatus status) {
    return switch (status) {
      case WORKER_STATUS_ONLINE -> WorkerStatus.ONLINE;
      case WORKER_STATUS_DRAINING -> WorkerStatus.DRAINING;
      case WORKER_STATUS_OFFLINE -> WorkerStatus.OFFLINE;
      case WORKER_STATUS_UNSPECIFIED, UNRECOGNIZED -> throw unknownEnum(field);
    };
  }

  static Refusal unknownEnum(String field) {
    return Refusal.invalid(field, "a number that this server does not know", "a value of the enum");
  }

  static PageSpec page(PageRequest page) {
    if (page.getPageSize() < 0) {
      throw Refusal.invalid("page.page_size", page.getPageSize(), "1 to 100, or 0 for the default");
    }
    return new PageSpec(
        page.getPageSize(),
        page.getPageToken(),
        page.getIncludeTotalCount(),
        page.getIncludePayloads());
  }

  static Instant instant(String field, Timestamp at) {
    if (at.getSeconds() < TIMESTAMP_SECONDS_MIN
        || at.getSeconds() > TIMESTAMP_SECONDS_MAX
        || at.getNanos() < 0
        || at.getNanos() > NANOS_MAX) {
      throw Refusal.invalid(
          field, at.getSeconds() + " s, " + at.getNanos() + " ns", "a time from year 1 to 9999");
    }
    return Instant.ofEpochSecond(at.getSeconds(), at.getNanos());
  }

  static Duration duration(String field, com.google.protobuf.Duration length) {
    if (length.getSeconds() < 0
        || length.getSeconds() > DURATION_SECONDS_MAX
        || length.getNanos() < 0
        || length.getNanos() > NANOS_MAX) {
      throw Refusal.invalid(
          field,
          length.getSeconds() + " s, " + length.getNanos() + " ns",
          "0 to " + DURATION_SECONDS_MAX + " s");
    }
    return Duration.ofSeconds(length.getSeconds(), length.getNanos());
  }

  static long notNegative(String field, long value) {
    if (value < 0) {
      throw Refusal.invalid(field, value, ">= 0");
    }
    return value;
  }

  static int positive(String field, int value) {
    if (value < 1) {
      throw Refusal.invalid(field, value, ">= 1");
    }
    return value;
  }
}
