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
 * What shall become of a schedule; what is not named stays as it is. Nothing happens before {@link
 * #save}. Not thread-safe.
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

  public ScheduleChange name(String name) {
    request.setName(NameRules.check("name", name));
    return this;
  }

  /** Another workflow with its input, on the queue that its type carries. */
  public <I> ScheduleChange workflow(WorkflowType<I, ?> type, I input) {
    request
        .setWorkflowType(type.name())
        .setVersion(type.version())
        .setTaskQueue(type.queue())
        .setInput(payloads.encodeInput(input, type.inputType()));
    return this;
  }

  public ScheduleChange queue(String queue) {
    request.setTaskQueue(NameRules.check("queue", queue));
    return this;
  }

  /** The next slot is the first that the expression names from now on. */
  public ScheduleChange cron(String expression) {
    request.setCronExpr(expression);
    return this;
  }

  public ScheduleChange zone(String zone) {
    request.setTimeZone(NameRules.check("zone", zone));
    return this;
  }

  public ScheduleChange overlap(Overlap overlap) {
    request.setOverlapPolicy(ProtoMapper.overlap(overlap));
    return this;
  }

  /** How many missed slots become runs after all; see {@link ScheduleBuilder#maxCatchup}. */
  public ScheduleChange maxCatchup(int slots) {
    request.setMaxCatchup(slots);
    return this;
  }

  public ScheduleChange jitter(Duration jitter) {
    request.setJitterMs(jitter.toMillis());
    return this;
  }

  public ScheduleChange retry(Retry retry) {
    request.setRetryPolicy(ProtoMapper.retryPolicy(retry));
    return this;
  }

  public ScheduleChange executionTimeout(Duration timeout) {
    request.setExecutionTimeoutMs(ProtoMapper.timeoutMs("executionTimeout", timeout));
    return this;
  }

  public ScheduleChange stepTimeout(Duration timeout) {
    request.setStepTimeoutMs(ProtoMapper.timeoutMs("stepTimeout", timeout));
    return this;
  }

  /** As {@link ScheduleBuilder#onFailure}. */
  public ScheduleChange onFailure(WorkflowType<WorkflowFailedEvent, ?> handler) {
    boolean carriesQueue = !handler.queue().equals(Kagzi.DEFAULT_QUEUE);
    request
        .setOnFailureWorkflow(handler.name())
        .setOnFailureTaskQueue(carriesQueue ? handler.queue() : "");
    return this;
  }

  /** Runs that fail are not retried as a whole. */
  public ScheduleChange clearRetry() {
    request.setClearRetryPolicy(true);
    return this;
  }

  /** Runs take as long as they take. */
  public ScheduleChange clearExecutionTimeout() {
    request.setExecutionTimeoutMs(0);
    return this;
  }

  /** Steps have the server's default. */
  public ScheduleChange clearStepTimeout() {
    request.setStepTimeoutMs(0);
    return this;
  }

  /** No workflow starts when a run fails, unless the namespace has a handler for all. */
  public ScheduleChange clearOnFailure() {
    request.setOnFailureWorkflow("").setOnFailureTaskQueue("");
    return this;
  }

  /** Its next slot, whatever the expression says; those after it follow the expression. */
  public ScheduleChange nextFireAt(Instant slot) {
    request.setNextFireAt(ProtoMapper.timestamp(slot));
    return this;
  }

  public ScheduleInfo save() {
    return ProtoMapper.schedule(
        connection
            .call(WorkflowScheduleServiceGrpc.getUpdateWorkflowScheduleMethod(), request.build())
            .getSchedule());
  }
}
