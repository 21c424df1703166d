package dev.kagzi.sdk;

import java.time.Instant;
import java.util.Optional;

/**
 * The input of a failure handler: {@link WorkflowStarter#onFailure} and {@link
 * WorkerBuilder#onAnyFailure}. The SDK decodes the event itself; the application's codec decodes
 * only the failed run's input.
 *
 * @param failedRunId the run that failed
 * @param workflowId the id set with {@link WorkflowStarter#id}; empty if none
 * @param workflowType name of its workflow type
 * @param queue its task queue
 * @param error message of the failure
 * @param originalInput its stored input; empty if it is larger than 1 MiB: then read it from the
 *     {@linkplain RunHistory#toJson history} of the run
 * @param attempts number of attempts of the run as a whole
 * @param startedAt when a worker first claimed it; empty if none did
 * @param failedAt when it ended
 * @param status {@code FAILED} or {@code TIMED_OUT}
 * @param failure the recorded error
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
   * Decodes the failed run's input with the worker's codec.
   *
   * @throws PayloadException if the input is not in the event, or cannot be decoded as this type
   */
  public <T> T input(Class<T> type) {
    return input().decode(type);
  }

  /** Like {@link #input(Class)}, for a generic type. */
  public <T> T input(TypeRef<T> type) {
    return input().decode(type.type());
  }

  private Encoded input() {
    return originalInput.orElseThrow(
        () ->
            new PayloadException(
                "input of run %s: not in the event (expected: at most 1 MiB; the run itself has it)"
                    .formatted(failedRunId),
                null));
  }
}
