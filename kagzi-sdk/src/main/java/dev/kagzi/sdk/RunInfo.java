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
    Optional<String> parentStep) {}
