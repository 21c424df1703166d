package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Refusal;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

public final class StartChecks {
  private static final int HEARTBEATS_MIN = 3;
  private static final long TIME_MS_MAX = Duration.ofDays(100L * 366).toMillis();
  private static final Instant LATEST = Instant.parse("2200-01-01T00:00:00Z");

  private final Limits limits;
  private final LargePayloads large;
  private final long heartbeatMs;

  /** {@code heartbeatMs} is the heartbeat interval of workers. */
  public StartChecks(Limits limits, LargePayloads large, long heartbeatMs) {
    this.limits = limits;
    this.large = large;
    this.heartbeatMs = heartbeatMs;
  }

  public void check(StartRequest request) {
    limits.checkName("namespace", request.namespace());
    limits.checkName("task_queue", request.taskQueue());
    limits.checkExternalId("external_id", request.externalId());
    checkContent(request);
  }

  /** Refuses workflow types that only the server may start. */
  public static void checkReserved(StartRequest request) {
    FailureHandler.refuse("workflow_type", request.workflowType());
    FailureHandler.refuse("on_failure_workflow", request.options().onFailureWorkflow());
  }

  /**
   * Checks the start of a child. It has the namespace and, by default, the task queue of its
   * parent.
   */
  public void checkChild(StartRequest request) {
    checkReserved(request);
    limits.checkOptionalName("task_queue", request.taskQueue());
    checkContent(request);
  }

  private void checkContent(StartRequest request) {
    limits.checkName("workflow_type", request.workflowType());
    limits.checkOptionalName("version", request.version());
    limits.checkPayload("input", request.input());
    Limits.checkHeaders(request.options().headers());
    check(request.options());
    large.warnInput(request);
  }

  private void check(StartOptions options) {
    checkTime("execution_timeout_ms", options.executionTimeoutMs(), 1);
    checkTime("step_timeout_ms", options.stepTimeoutMs(), 1);
    // With a shorter lease a single lost heartbeat could cost the worker its claim.
    checkTime("heartbeat_timeout_ms", options.heartbeatTimeoutMs(), HEARTBEATS_MIN * heartbeatMs);
    Instant deadline = options.deadline();
    if (deadline != null && (deadline.isBefore(Instant.EPOCH) || deadline.isAfter(LATEST))) {
      throw Refusal.invalid("deadline", deadline, Instant.EPOCH + " to " + LATEST);
    }
    limits.checkOptionalName("on_failure_workflow", options.onFailureWorkflow());
    limits.checkOptionalName("on_failure_task_queue", options.onFailureTaskQueue());
    if (options.onFailureWorkflow().isEmpty() && !options.onFailureTaskQueue().isEmpty()) {
      throw Refusal.invalid(
          "on_failure_task_queue",
          options.onFailureTaskQueue() + " without on_failure_workflow",
          "both, or none");
    }
  }

  private static void checkTime(String field, @Nullable Long millis, long minMs) {
    if (millis != null && (millis < minMs || millis > TIME_MS_MAX)) {
      throw Refusal.invalid(field, millis + " ms", minMs + " to " + TIME_MS_MAX + " ms");
    }
  }
}
