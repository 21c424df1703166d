package dev.kagzi.sdk;

import java.time.Instant;
import java.util.Optional;

/**
 * What is known of a run, as of the moment of the call.
 *
 * @param runId the run's own id
 * @param workflowId the id given with {@link WorkflowStarter#id}; empty if none
 * @param version empty for a run that was started without
 * @param attempts 1 at first, one more for each failure of the run as a whole
 * @param startedAt when a worker first had it
 * @param wakeUpAt when a sleeping or waiting run goes on
 * @param workerId who has it
 * @param failure of a run that failed; of an unfinished one: what blocks it
 * @param parentRunId the run that started it, as a child or from one of its steps
 * @param parentStep the step of that run
 * @param output of a run that completed, as it was stored: {@link #output(Class)} reads it. Of runs
 *     of a list it is empty if it is larger than 4 KiB: {@link RunList#payloads}
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
    Optional<String> workerId,
    Optional<Failure> failure,
    Optional<String> parentRunId,
    Optional<String> parentStep,
    Optional<Encoded> output) {

  /**
   * What the run returned, read by the client's codec; of a {@link RunHistory}, as JSON.
   *
   * @return empty if the run has not completed, if it returned null, or if the output is not here
   * @throws PayloadException if it is not of this type
   */
  public <T> Optional<T> output(Class<T> type) {
    return output.flatMap(stored -> Optional.ofNullable(stored.decode(type)));
  }

  /** As {@link #output(Class)}, for a type with type parameters. */
  public <T> Optional<T> output(TypeRef<T> type) {
    return output.flatMap(stored -> Optional.ofNullable(stored.decode(type.type())));
  }
}
