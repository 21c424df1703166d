package dev.kagzi.sdk;

import java.time.Instant;
import java.util.Optional;

/**
 * One recorded attempt of a step.
 *
 * @param key unique in the run: {@code charge}, {@code charge#2}, {@code pack[0]/weigh}
 * @param name the step's name in the workflow's code
 * @param attempt number of the attempt, from 1
 * @param failure the error of a failed attempt
 * @param childRunId the child's run id, if the step is a child
 */
public record StepInfo(
    String key,
    String name,
    Kind kind,
    Status status,
    int attempt,
    Instant startedAt,
    Optional<Instant> finishedAt,
    Optional<Failure> failure,
    Optional<String> childRunId) {

  /** What kind of operation the step is. */
  public enum Kind {
    /**
     * Application code. Also the step that records {@link WorkflowContext#now}, the winner of a
     * {@code race}, or the failure of a {@code parallel} or {@code race} call.
     */
    FUNCTION,
    SLEEP,
    CHILD,
    /** Receives a signal, or the answer of a callback. */
    SIGNAL,
    /** Makes a callback. */
    CALLBACK
  }

  /** The status of an attempt. */
  public enum Status {
    PENDING,
    RUNNING,
    COMPLETED,
    FAILED
  }
}
