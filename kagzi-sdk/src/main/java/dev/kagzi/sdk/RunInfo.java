package dev.kagzi.sdk;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * The state of a run at the time of the call.
 *
 * @param runId the run's id
 * @param workflowId the id set with {@link WorkflowStarter#id}; empty if none
 * @param version the version that the run was started with, or the default version of its type at
 *     that time; empty if there was neither
 * @param attempts number of attempts of the run as a whole; 1 until it fails for the first time
 * @param startedAt when a worker first claimed it
 * @param wakeUpAt when a sleeping or waiting run continues
 * @param cancelRequestedAt since when its code cleans up: {@link WorkflowType#onCancel}; kept after
 *     its end
 * @param workerId the worker that holds it
 * @param failure why a PENDING run is blocked; otherwise the error of the last failed attempt,
 *     which stays while the next attempt (by the retry policy or a resume) runs
 * @param parentRunId the run that started it, as a child or from a step
 * @param parentStep the step of that run
 * @param continuedTo the run that this one has continued as: {@link
 *     WorkflowContext#continueAsNew(Object)}
 * @param continuedFrom the run that has continued as this one
 * @param headers of its start: {@link WorkflowStarter#header}
 * @param output the stored output of a completed run; {@link #output(Class)} decodes it. In lists
 *     it is empty if it is larger than 4 KiB: {@link RunList#payloads}
 */
public record RunInfo(
    String runId,
    Optional<String> workflowId,
    String namespace,
    String queue,
    String type,
    String version,
    RunStatus status,
    int attempts,
    Instant createdAt,
    Optional<Instant> startedAt,
    Optional<Instant> finishedAt,
    Optional<Instant> wakeUpAt,
    Optional<Instant> cancelRequestedAt,
    Optional<String> workerId,
    Optional<Failure> failure,
    Optional<String> parentRunId,
    Optional<String> parentStep,
    Optional<String> continuedTo,
    Optional<String> continuedFrom,
    Map<String, String> headers,
    Optional<Encoded> output) {

  public RunInfo {
    headers = Map.copyOf(headers);
  }

  /**
   * Decodes the run's output with the client's codec; in a {@link RunHistory}, as JSON.
   *
   * @return empty if the run has not completed, returned null, or if the output was not fetched
   * @throws PayloadException if the output cannot be decoded as this type
   */
  public <T> Optional<T> output(Class<T> type) {
    return output.flatMap(stored -> Optional.ofNullable(stored.decode(type)));
  }

  /** Like {@link #output(Class)}, for a generic type. */
  public <T> Optional<T> output(TypeRef<T> type) {
    return output.flatMap(stored -> Optional.ofNullable(stored.decode(type.type())));
  }
}
