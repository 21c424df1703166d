package dev.kagzi.engine.run;

import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import org.jspecify.annotations.Nullable;

/**
 * A request to start a run.
 *
 * @param externalId the caller's own id of the run; empty for none
 * @param version empty for the type's default
 * @param retryPolicy policy of the run and of steps without their own; null: steps use the server's
 *     default, and the run is not retried
 * @param runId chosen by the caller to make the call idempotent; null for a new id
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
