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
 * @param retryPolicy for the run's steps, and for the run as a whole; null for the server's default
 * @param runId chosen by the caller, who may then repeat the call safely; null for a new one
 */
public record StartRequest(
    String namespace,
    String externalId,
    String taskQueue,
    String workflowType,
    String version,
    Payload input,
    @Nullable RetryPolicy retryPolicy,
    @Nullable RunId runId) {}
