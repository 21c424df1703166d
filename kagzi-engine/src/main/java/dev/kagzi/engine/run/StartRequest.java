package dev.kagzi.engine.run;

import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import org.jspecify.annotations.Nullable;

/**
 * A wish to start a run.
 *
 * @param externalId the caller's own name for the run; empty for none
 * @param version empty for the type's default
 * @param retryPolicy for steps that have none of their own, and for the run as a whole; null: steps
 *     follow the server's default, and the run is not tried again
 * @param runId chosen by the caller, who may then repeat the call safely; null for a new one
 * @param options what most starts do not ask for
 */
public record StartRequest(
    String namespace,
    String externalId,
    String taskQueue,
    String workflowType,
    String version,
    Payload input,
    @Nullable RetryPolicy retryPolicy,
    @Nullable RunId runId,
    StartOptions options) {

  /** An ordinary start. */
  public StartRequest(
      String namespace,
      String externalId,
      String taskQueue,
      String workflowType,
      String version,
      Payload input,
      @Nullable RetryPolicy retryPolicy,
      @Nullable RunId runId) {
    this(
        namespace,
        externalId,
        taskQueue,
        workflowType,
        version,
        input,
        retryPolicy,
        runId,
        StartOptions.NONE);
  }

  StartRequest withVersion(String other) {
    return other.equals(version)
        ? this
        : new StartRequest(
            namespace,
            externalId,
            taskQueue,
            workflowType,
            other,
            input,
            retryPolicy,
            runId,
            options);
  }
}
