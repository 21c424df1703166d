package dev.kagzi.engine.schedule;

import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.value.Payload;
import org.jspecify.annotations.Nullable;

/**
 * What a schedule starts, and when.
 *
 * @param name unique in its namespace; empty for none
 * @param version empty for the type's default
 * @param timeZone its IANA name
 * @param maxCatchup how many late slots become runs at most: the newest ones
 * @param jitterMs maximum delay of a run after its slot
 * @param retryPolicy of the runs; null for none
 * @param executionTimeoutMs how long a run may take; null for no limit
 * @param stepTimeoutMs how long an attempt of a step may take; null: the server's default
 * @param onFailureWorkflow the workflow to start when a run fails; empty for none
 * @param onFailureTaskQueue its queue; empty for the run's own
 */
public record ScheduleSpec(
    String name,
    String taskQueue,
    String workflowType,
    String version,
    String cronExpr,
    String timeZone,
    Payload input,
    Overlap overlap,
    int maxCatchup,
    long jitterMs,
    @Nullable RetryPolicy retryPolicy,
    @Nullable Long executionTimeoutMs,
    @Nullable Long stepTimeoutMs,
    String onFailureWorkflow,
    String onFailureTaskQueue) {

  public static final String TIME_ZONE_DEFAULT = "UTC";
  public static final int MAX_CATCHUP_DEFAULT = 100;

  ScheduleSpec with(ScheduleUpdate update) {
    return new ScheduleSpec(
        or(update.name(), name),
        or(update.taskQueue(), taskQueue),
        or(update.workflowType(), workflowType),
        or(update.version(), version),
        or(update.cronExpr(), cronExpr),
        or(update.timeZone(), timeZone),
        or(update.input(), input),
        or(update.overlap(), overlap),
        or(update.maxCatchup(), maxCatchup),
        or(update.jitterMs(), jitterMs),
        update.clearRetryPolicy()
            ? null
            : update.retryPolicy() == null ? retryPolicy : update.retryPolicy(),
        time(update.executionTimeoutMs(), executionTimeoutMs),
        time(update.stepTimeoutMs(), stepTimeoutMs),
        or(update.onFailureWorkflow(), onFailureWorkflow),
        or(update.onFailureTaskQueue(), onFailureTaskQueueWith(update)));
  }

  /** Removing the handler also removes its queue. */
  private String onFailureTaskQueueWith(ScheduleUpdate update) {
    return "".equals(update.onFailureWorkflow()) ? "" : onFailureTaskQueue;
  }

  private static <T> T or(@Nullable T now, T before) {
    return now == null ? before : now;
  }

  private static @Nullable Long time(@Nullable Long now, @Nullable Long before) {
    return now == null ? before : now == 0 ? null : now;
  }
}
