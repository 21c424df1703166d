package dev.kagzi.engine.dispatch;

import dev.kagzi.engine.internal.run.StartRun;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.TypeVersion;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a worker receives: a claim and all that it needs to start or resume the run.
 *
 * @param steps the recorded steps of earlier claims, by the creation time of their last attempts
 * @param historyApart {@code steps} is empty because they are too large; the worker fetches them
 * @param claimedAt when the worker received the run, by the database's clock
 * @param deadlineInMs how long the run may still take; null: no limit
 * @param stepTimeoutMs the timeout of a step attempt, unless the step has its own
 * @param headers of the run's start
 * @param cancel whether a cancel of the run was requested
 * @param dueNanos since when the run is due, by this JVM's clock; only for metrics
 */
public record Task(
    Claim claim,
    String workflowType,
    String version,
    int attempt,
    @Nullable Payload input,
    int stepsRecorded,
    List<RecordedStep> steps,
    boolean historyApart,
    String externalId,
    Instant createdAt,
    Instant claimedAt,
    @Nullable Long deadlineInMs,
    long stepTimeoutMs,
    Map<String, String> headers,
    Cancel cancel,
    long dueNanos) {

  /** Whether a cancel of the run was requested before its claim. */
  public enum Cancel {
    NONE,
    CLEAN_UP,
    /** The worker's code does not clean up: the run ends, and the worker does not get the task. */
    END
  }

  /** The task of a run that was inserted as claimed by a waiting worker. */
  public static Task ofStart(StartRun run, Instant createdAt, long stepTimeoutMs, long dueNanos) {
    StartRequest request = run.request();
    Long ownStepTimeoutMs = request.options().stepTimeoutMs();
    return new Task(
        run.claim(),
        request.workflowType(),
        request.version(),
        1,
        request.input().isEmpty() ? null : request.input(),
        0,
        List.of(),
        false,
        request.externalId(),
        createdAt,
        createdAt,
        run.expiresMs(createdAt),
        ownStepTimeoutMs == null ? stepTimeoutMs : ownStepTimeoutMs,
        request.options().headers(),
        Cancel.NONE,
        dueNanos);
  }

  public TypeVersion type() {
    return new TypeVersion(workflowType, version);
  }

  public int bytes() {
    int sum = 100 + workflowType.length() + version.length() + externalId.length();
    sum += Limits.bytes(headers);
    if (input != null) {
      sum += input.bytes();
    }
    for (RecordedStep step : steps) {
      sum += step.bytes();
    }
    return sum;
  }
}
