package dev.kagzi.engine.run;

import dev.kagzi.engine.value.RunId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What a start may ask for beyond the ordinary.
 *
 * @param executionTimeoutMs how long the run may take; null: as long as it takes
 * @param deadline when it has to be over; with both, whichever comes first
 * @param stepTimeoutMs how long an attempt of a step may take; null: the server's default
 * @param heartbeatTimeoutMs the run's own lease; null: the server's
 * @param onFailureWorkflow the workflow to start when the run fails; empty for none
 * @param onFailureTaskQueue its queue; empty for the run's own
 * @param parent where the start is made; null for none of Kagzi's business
 */
public record StartOptions(
    @Nullable Long executionTimeoutMs,
    @Nullable Instant deadline,
    @Nullable Long stepTimeoutMs,
    @Nullable Long heartbeatTimeoutMs,
    String onFailureWorkflow,
    String onFailureTaskQueue,
    IfExists ifExists,
    @Nullable Parent parent) {

  /** A step of another run within which a run is started. */
  public record Parent(RunId run, String stepKey) {}

  public static final StartOptions NONE =
      new StartOptions(null, null, null, null, "", "", IfExists.USE_EXISTING, null);

  /** True when nothing of it is stored with the run. */
  public boolean isPlain() {
    return executionTimeoutMs == null
        && deadline == null
        && stepTimeoutMs == null
        && heartbeatTimeoutMs == null
        && onFailureWorkflow.isEmpty();
  }

  public StartOptions withExecutionTimeoutMs(long millis) {
    return new StartOptions(
        millis,
        deadline,
        stepTimeoutMs,
        heartbeatTimeoutMs,
        onFailureWorkflow,
        onFailureTaskQueue,
        ifExists,
        parent);
  }

  public StartOptions withDeadline(Instant time) {
    return new StartOptions(
        executionTimeoutMs,
        time,
        stepTimeoutMs,
        heartbeatTimeoutMs,
        onFailureWorkflow,
        onFailureTaskQueue,
        ifExists,
        parent);
  }

  public StartOptions withStepTimeoutMs(long millis) {
    return new StartOptions(
        executionTimeoutMs,
        deadline,
        millis,
        heartbeatTimeoutMs,
        onFailureWorkflow,
        onFailureTaskQueue,
        ifExists,
        parent);
  }

  public StartOptions withHeartbeatTimeoutMs(long millis) {
    return new StartOptions(
        executionTimeoutMs,
        deadline,
        stepTimeoutMs,
        millis,
        onFailureWorkflow,
        onFailureTaskQueue,
        ifExists,
        parent);
  }

  public StartOptions withOnFailure(String workflow, String taskQueue) {
    return new StartOptions(
        executionTimeoutMs,
        deadline,
        stepTimeoutMs,
        heartbeatTimeoutMs,
        workflow,
        taskQueue,
        ifExists,
        parent);
  }

  public StartOptions withParent(Parent other) {
    return new StartOptions(
        executionTimeoutMs,
        deadline,
        stepTimeoutMs,
        heartbeatTimeoutMs,
        onFailureWorkflow,
        onFailureTaskQueue,
        ifExists,
        other);
  }

  public StartOptions withIfExists(IfExists policy) {
    return new StartOptions(
        executionTimeoutMs,
        deadline,
        stepTimeoutMs,
        heartbeatTimeoutMs,
        onFailureWorkflow,
        onFailureTaskQueue,
        policy,
        parent);
  }
}
