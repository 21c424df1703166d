package dev.kagzi.engine.run;

import dev.kagzi.engine.value.RunId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Optional settings of a start.
 *
 * @param executionTimeoutMs timeout of the whole run; null: none
 * @param deadline latest end of the run; if a timeout is set too, the earlier one applies
 * @param stepTimeoutMs timeout of a step attempt; null: the server's default
 * @param heartbeatTimeoutMs the run's lease duration; null: the server's
 * @param onFailureWorkflow the workflow type to start if the run fails; empty for none
 * @param onFailureTaskQueue the task queue of that workflow; empty for the run's own
 * @param parent the step that makes this start; null if the caller is not a workflow
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

  public record Parent(RunId run, String stepKey) {}

  public static final StartOptions NONE =
      new StartOptions(null, null, null, null, "", "", IfExists.USE_EXISTING, null);

  public boolean isPlain() {
    return executionTimeoutMs == null
        && deadline == null
        && stepTimeoutMs == null
        && heartbeatTimeoutMs == null
        && onFailureWorkflow.isEmpty();
  }
}
