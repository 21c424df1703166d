package dev.kagzi.engine.schedule;

import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.value.Payload;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The changes of a schedule; null leaves a value unchanged.
 *
 * @param executionTimeoutMs 0 for none
 * @param stepTimeoutMs 0 for the server's default
 * @param clearRetryPolicy removes the retry policy and ignores retryPolicy
 * @param onFailureWorkflow empty removes the handler and its queue
 * @param nextFireAt overrides the next slot; later slots follow the expression
 */
public record ScheduleUpdate(
    @Nullable String name,
    @Nullable String taskQueue,
    @Nullable String workflowType,
    @Nullable String version,
    @Nullable String cronExpr,
    @Nullable String timeZone,
    @Nullable Payload input,
    @Nullable Overlap overlap,
    @Nullable Integer maxCatchup,
    @Nullable Long jitterMs,
    @Nullable RetryPolicy retryPolicy,
    boolean clearRetryPolicy,
    @Nullable Long executionTimeoutMs,
    @Nullable Long stepTimeoutMs,
    @Nullable String onFailureWorkflow,
    @Nullable String onFailureTaskQueue,
    @Nullable Boolean enabled,
    @Nullable Instant nextFireAt) {}
