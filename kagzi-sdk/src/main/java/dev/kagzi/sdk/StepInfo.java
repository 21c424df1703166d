package dev.kagzi.sdk;

import java.time.Instant;
import java.util.Optional;

/**
 * One attempt of a step as it is recorded.
 *
 * @param key tells steps of one name apart: {@code charge}, {@code charge#2}, {@code pack[0]/weigh}
 * @param name what the workflow's code calls it
 * @param attempt from 1
 * @param failure why it failed
 * @param childRunId of a step that is another run: that run
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

  /** What the workflow's code asked for. */
  public enum Kind {
    /** Code of the application; also the winner of a race, and the first failure of branches. */
    FUNCTION,
    SLEEP,
    CHILD
  }

  /** How the attempt stands. */
  public enum Status {
    PENDING,
    RUNNING,
    COMPLETED,
    FAILED
  }
}
