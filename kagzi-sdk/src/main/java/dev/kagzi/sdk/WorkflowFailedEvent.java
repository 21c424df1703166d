package dev.kagzi.sdk;

import java.time.Instant;
import java.util.Optional;

/**
 * What a failure handler is given: {@link WorkflowStarter#onFailure} and {@link
 * WorkerBuilder#onAnyFailure}. It is read by the SDK itself, whatever codec the application uses;
 * the failed run's input by that codec.
 *
 * @param failedRunId the run that failed
 * @param workflowId the id given with {@link WorkflowStarter#id}; empty if none
 * @param workflowType name of its type
 * @param queue its task queue
 * @param error what went wrong, in one sentence: the failure's message
 * @param originalInput its input as it was stored; empty if it is larger than a MiB: then {@link
 *     #failedRunId} leads to it
 * @param attempts how often the run was tried as a whole
 * @param startedAt when a worker first had it; empty if none ever did
 * @param failedAt when it ended
 * @param status {@code FAILED} or {@code TIMED_OUT}
 * @param failure all that was recorded of the error
 */
public record WorkflowFailedEvent(
    String failedRunId,
    Optional<String> workflowId,
    String namespace,
    String workflowType,
    String queue,
    String error,
    Optional<Encoded> originalInput,
    int attempts,
    Optional<Instant> startedAt,
    Instant failedAt,
    RunStatus status,
    Failure failure) {

  /**
   * The failed run's input, read by the codec of the worker.
   *
   * @throws PayloadException if it is not there, or is not of this type
   */
  public <T> T input(Class<T> type) {
    return input().decode(type);
  }

  /** As {@link #input(Class)}, for a type with type parameters. */
  public <T> T input(TypeRef<T> type) {
    return input().decode(type.type());
  }

  private Encoded input() {
    return originalInput.orElseThrow(
        () ->
            new PayloadException(
                "input of run %s: not in the event (expected: at most a MiB; the run itself has it)"
                    .formatted(failedRunId),
                null));
  }
}
