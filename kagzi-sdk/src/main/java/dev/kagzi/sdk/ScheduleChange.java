package dev.kagzi.sdk;

import dev.kagzi.protocol.v1.UpdateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.sdk.internal.run.NameRules;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.Payloads;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.time.Duration;
import java.time.Instant;

/**
 * Changes options of an existing schedule: {@link Schedule#change}. Options that are not set stay
 * as they are. {@link #save} applies the change. Not thread-safe.
 */
public final class ScheduleChange {
  private final Connection connection;
  private final Payloads payloads;
  private final UpdateWorkflowScheduleRequest.Builder request;

  ScheduleChange(Connection connection, Payloads payloads, String id) {
    this.connection = connection;
    this.payloads = payloads;
    this.request =
        UpdateWorkflowScheduleRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setScheduleId(id);
  }

  /** Renames the schedule. */
  public ScheduleChange name(String name) {
    request.setName(NameRules.check("name", name));
    return this;
  }

  /** Sets the workflow and its input, and the queue to that of the workflow type. */
  public <I> ScheduleChange workflow(WorkflowType<I, ?> type, I input) {
    request
        .setWorkflowType(type.name())
        .setVersion(type.version())
        .setTaskQueue(type.queue())
        .setInput(payloads.encodeInput(input, type.inputType()));
    return this;
  }

  /** Sets the task queue of the runs. */
  public ScheduleChange queue(String queue) {
    request.setTaskQueue(NameRules.check("queue", queue));
    return this;
  }

  /**
   * Sets the cron expression. If it differs from the current one, its first match after {@link
   * #save} becomes the next slot.
   */
  public ScheduleChange cron(String expression) {
    request.setCronExpr(expression);
    return this;
  }

  /**
   * Sets the time zone of the cron expression by its IANA name. If it differs from the current one,
   * the next slot changes as with {@link #cron}.
   */
  public ScheduleChange zone(String zone) {
    request.setTimeZone(NameRules.check("zone", zone));
    return this;
  }

  /** Sets what happens to a slot while an earlier run has not ended. */
  public ScheduleChange overlap(Overlap overlap) {
    request.setOverlapPolicy(ProtoMapper.overlap(overlap));
    return this;
  }

  /** Sets how many late slots become runs: {@link ScheduleBuilder#maxCatchup}. */
  public ScheduleChange maxCatchup(int slots) {
    request.setMaxCatchup(slots);
    return this;
  }

  /** Sets the jitter: {@link ScheduleBuilder#jitter}. */
  public ScheduleChange jitter(Duration jitter) {
    request.setJitterMs(jitter.toMillis());
    return this;
  }

  /** Sets the retry policy: {@link ScheduleBuilder#retry}. */
  public ScheduleChange retry(Retry retry) {
    request.setRetryPolicy(ProtoMapper.retryPolicy(retry));
    return this;
  }

  /** Sets how long a run may take: {@link ScheduleBuilder#executionTimeout}. */
  public ScheduleChange executionTimeout(Duration timeout) {
    request.setExecutionTimeoutMs(ProtoMapper.timeoutMs("executionTimeout", timeout));
    return this;
  }

  /** Sets how long one attempt of a step may take: {@link ScheduleBuilder#stepTimeout}. */
  public ScheduleChange stepTimeout(Duration timeout) {
    request.setStepTimeoutMs(ProtoMapper.timeoutMs("stepTimeout", timeout));
    return this;
  }

  /**
   * Sets the failure handler of the runs: {@link WorkflowStarter#onFailure(WorkflowType)}.
   *
   * @throws IllegalArgumentException if the handler's type has a version
   */
  public ScheduleChange onFailure(WorkflowType<WorkflowFailedEvent, ?> handler) {
    request
        .setOnFailureWorkflow(WorkflowStarter.handlerName(handler))
        .setOnFailureTaskQueue(WorkflowStarter.handlerQueue(handler));
    return this;
  }

  /**
   * Removes the retry policy: steps use the default of the server, and failed runs are not retried.
   */
  public ScheduleChange clearRetry() {
    request.setClearRetryPolicy(true);
    return this;
  }

  /** Removes the execution timeout. */
  public ScheduleChange clearExecutionTimeout() {
    request.setExecutionTimeoutMs(0);
    return this;
  }

  /** Resets the step timeout to the server's default. */
  public ScheduleChange clearStepTimeout() {
    request.setStepTimeoutMs(0);
    return this;
  }

  /** Removes the failure handler. A handler of all failures in the namespace is still started. */
  public ScheduleChange clearOnFailure() {
    request.setOnFailureWorkflow("").setOnFailureTaskQueue("");
    return this;
  }

  /** Sets the next slot, regardless of the cron expression, which determines the slots after it. */
  public ScheduleChange nextFireAt(Instant slot) {
    request.setNextFireAt(ProtoMapper.timestamp(slot));
    return this;
  }

  /**
   * Applies the change and returns the schedule.
   *
   * @throws RequestRefusedException with code {@code ALREADY_EXISTS} if another schedule has the
   *     new name; with {@code NOT_FOUND} if the schedule does not exist
   */
  public ScheduleInfo save() {
    return ProtoMapper.schedule(
        connection
            .call(WorkflowScheduleServiceGrpc.getUpdateWorkflowScheduleMethod(), request.build())
            .getSchedule());
  }
}
