package dev.kagzi.engine.run;

import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Refusal;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** What is wrong with a wish to start a run, whoever has it. */
public final class StartChecks {
  private static final int BEATS_MIN = 3;
  private static final long TIME_MS_MAX = Duration.ofDays(100L * 366).toMillis();
  private static final Instant LATEST = Instant.parse("2200-01-01T00:00:00Z");

  private final Limits limits;
  private final LargePayloads large;
  private final long heartbeatMs;

  /** {@code heartbeatMs} is how often workers beat. */
  public StartChecks(Limits limits, LargePayloads large, long heartbeatMs) {
    this.limits = limits;
    this.large = large;
    this.heartbeatMs = heartbeatMs;
  }

  void check(StartRequest request) {
    limits.checkName("namespace", request.namespace());
    limits.checkName("task_queue", request.taskQueue());
    limits.checkExternalId("external_id", request.externalId());
    checkWhat(request);
  }

  /** What clients may not start, and the server may. */
  static void checkReserved(StartRequest request) {
    FailureHandler.refuse("workflow_type", request.workflowType());
    FailureHandler.refuse("on_failure_workflow", request.options().onFailureWorkflow());
  }

  /** A child has its parent's namespace, and its queue if it names none. */
  public void checkChild(StartRequest request) {
    checkReserved(request);
    limits.checkOptionalName("task_queue", request.taskQueue());
    checkWhat(request);
  }

  private void checkWhat(StartRequest request) {
    limits.checkName("workflow_type", request.workflowType());
    limits.checkOptionalName("version", request.version());
    limits.checkPayload("input", request.input());
    check(request.options());
    large.warn(request.workflowType(), "input", request.input());
  }

  private void check(StartOptions options) {
    checkTime("execution_timeout_ms", options.executionTimeoutMs(), 1);
    checkTime("step_timeout_ms", options.stepTimeoutMs(), 1);
    // Fewer beats than this, and a single lost one costs the run its worker.
    checkTime("heartbeat_timeout_ms", options.heartbeatTimeoutMs(), BEATS_MIN * heartbeatMs);
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

  private static void checkTime(String field, @Nullable Long millis, long leastMs) {
    if (millis != null && (millis < leastMs || millis > TIME_MS_MAX)) {
      throw Refusal.invalid(field, millis + " ms", leastMs + " to " + TIME_MS_MAX + " ms");
    }
  }
}
