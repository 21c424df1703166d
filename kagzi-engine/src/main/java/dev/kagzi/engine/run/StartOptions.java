package dev.kagzi.engine.run;

import dev.kagzi.engine.value.RunId;
import java.time.Instant;
import java.util.Map;
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
 * @param headers texts that are stored with the run and sent to its workers
 */
public record StartOptions(
    @Nullable Long executionTimeoutMs,
    @Nullable Instant deadline,
    @Nullable Long stepTimeoutMs,
    @Nullable Long heartbeatTimeoutMs,
    String onFailureWorkflow,
    String onFailureTaskQueue,
    IfExists ifExists,
    @Nullable Parent parent,
    Map<String, String> headers) {

  public record Parent(RunId run, String stepKey) {}

  public static final StartOptions NONE =
      new StartOptions(null, null, null, null, "", "", IfExists.USE_EXISTING, null, Map.of());

  public StartOptions {
    headers = Map.copyOf(headers);
  }

  public StartOptions withHeaders(Map<String, String> other) {
    return other.equals(headers)
        ? this
        : new StartOptions(
            executionTimeoutMs,
            deadline,
            stepTimeoutMs,
            heartbeatTimeoutMs,
            onFailureWorkflow,
            onFailureTaskQueue,
            ifExists,
            parent,
            other);
  }

  /**
   * True if a start sets no options that need columns of their own. Headers do not count: every run
   * may have them.
   */
  public boolean isPlain() {
    return executionTimeoutMs == null
        && deadline == null
        && stepTimeoutMs == null
        && heartbeatTimeoutMs == null
        && onFailureWorkflow.isEmpty();
  }
}
