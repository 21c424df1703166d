package dev.kagzi.engine.query;

import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Origin;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A run as it was when it was read.
 *
 * @param externalId the caller's id of the run; empty for none
 * @param input without its bytes if a list omitted them
 * @param output null until the run has completed, and for a run without output
 * @param attempts 1 at the start; each retry of the whole run by its policy, and each resume, adds
 *     1
 * @param wakeUpAt when a run that waits for a time continues
 * @param crashes how many workers in a row died with the run without a newly recorded step
 * @param cancelRequestedAt since when the run cleans up; kept after its end
 * @param epoch increases with each claim; after a crash it can also increase without a claim
 * @param blockedBy why its last worker could not continue it; a RUNNING run keeps it until its
 *     claim ends
 */
public record RunView(
    String namespace,
    RunId runId,
    String externalId,
    String taskQueue,
    String workflowType,
    RunStatus status,
    String version,
    Payload input,
    @Nullable Payload output,
    @Nullable Failure error,
    int attempts,
    Instant createdAt,
    @Nullable Instant startedAt,
    @Nullable Instant finishedAt,
    @Nullable Instant wakeUpAt,
    @Nullable WorkerId workerId,
    @Nullable RunId parentRunId,
    @Nullable String parentStepId,
    @Nullable UUID scheduleId,
    @Nullable String cronExpr,
    @Nullable Instant deadlineAt,
    @Nullable Instant cancelRequestedAt,
    Origin origin,
    int crashes,
    int epoch,
    @Nullable Failure blockedBy,
    Setup setup) {

  /**
   * How the run was started, and its related runs.
   *
   * @param retryPolicy as it is stored; null for none
   * @param onFailureWorkflow empty for none
   * @param failureHandler the run that handles, or has handled, this run's failure
   * @param failedRun the run whose failure this one handles
   * @param retryOf the run that this one retries
   * @param detached its parent does not wait for it, and a cancel of the parent does not cancel it
   * @param fireAt the slot of its schedule that the run is for
   * @param headers of its start
   * @param bufferedSignals signals that no step has received
   * @param chain its place in a chain of runs
   */
  public record Setup(
      @Nullable RetryPolicy retryPolicy,
      @Nullable Long executionTimeoutMs,
      @Nullable Long stepTimeoutMs,
      @Nullable Long heartbeatTimeoutMs,
      String onFailureWorkflow,
      String onFailureTaskQueue,
      @Nullable RunId failureHandler,
      @Nullable RunId failedRun,
      @Nullable RunId retryOf,
      boolean detached,
      @Nullable Instant fireAt,
      Map<String, String> headers,
      int bufferedSignals,
      Chain chain) {}

  /**
   * The place of a run in a chain of runs that continue as new. All are null for other runs.
   *
   * @param continuedTo the run that this one has continued as
   * @param continuedFrom the run that has continued as this one
   * @param first the first run of the chain; null for that run itself
   */
  public record Chain(
      @Nullable RunId continuedTo, @Nullable RunId continuedFrom, @Nullable RunId first) {
    public static final Chain NONE = new Chain(null, null, null);
  }
}
