package dev.kagzi.engine.schedule;

import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.value.Payload;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What to change of a schedule; null leaves a thing as it is.
 *
 * @param executionTimeoutMs 0 for none
 * @param stepTimeoutMs 0 for the server's default
 * @param clearRetryPolicy from now on none, whatever retryPolicy is
 * @param onFailureWorkflow empty for none, and no queue for it
 * @param nextFireAt the next slot, whatever the expression says; those after it follow the
 *     expression
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
    @Nullable Instant nextFireAt) {

  /** Pauses or resumes, and nothing else. */
  public static ScheduleUpdate enabled(boolean enabled) {
    return new ScheduleUpdate(
        null, null, null, null, null, null, null, null, null, null, null, false, null, null, null,
        null, enabled, null);
  }

  /** Makes a schedule what the specification says; whether it is enabled stays if null. */
  static ScheduleUpdate to(ScheduleSpec spec, @Nullable Boolean enabled) {
    return new ScheduleUpdate(
        spec.name(),
        spec.taskQueue(),
        spec.workflowType(),
        spec.version(),
        spec.cronExpr(),
        spec.timeZone(),
        spec.input(),
        spec.overlap(),
        spec.maxCatchup(),
        spec.jitterMs(),
        spec.retryPolicy(),
        spec.retryPolicy() == null,
        spec.executionTimeoutMs() == null ? Long.valueOf(0) : spec.executionTimeoutMs(),
        spec.stepTimeoutMs() == null ? Long.valueOf(0) : spec.stepTimeoutMs(),
        spec.onFailureWorkflow(),
        spec.onFailureTaskQueue(),
        enabled,
        null);
  }
}
