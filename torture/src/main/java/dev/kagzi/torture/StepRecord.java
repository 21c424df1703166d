package dev.kagzi.torture;

/**
 * One attempt of a step as the tables have it.
 *
 * @param epoch of the claim that recorded it
 * @param runAttempt the attempt of the run within which it was made
 * @param isSleep a sleep, which has no code of its own
 * @param isFinal a failure after which there is no further attempt within this attempt of the run
 * @param cause why it ended as it did
 * @param value the output, or the failure's message
 * @param createdMicros by the database's clock: of a sleep, when it was begun
 * @param finishedMicros by the database's clock; 0 if unfinished
 * @param childRunId the run that carried it out; empty for a step of the run's own code
 */
record StepRecord(
    String runId,
    String step,
    int attempt,
    int epoch,
    int runAttempt,
    boolean isSleep,
    Status status,
    boolean isFinal,
    Cause cause,
    String value,
    long createdMicros,
    long finishedMicros,
    String childRunId) {

  /** In the words of the tables. */
  enum Status {
    PENDING,
    RUNNING,
    COMPLETED,
    FAILED
  }

  /** What brings an attempt to its end. */
  enum Cause {
    /** Its code has returned or thrown. */
    CODE,
    /** It has taken longer than it may. */
    TIMEOUT,
    /** Its run was ended from outside. */
    RUN_ENDED,
    /** Its branch was stopped, since another has won or failed. */
    INTERRUPTED
  }

  boolean isCompleted() {
    return status == Status.COMPLETED;
  }

  boolean isFinalFailure() {
    return status == Status.FAILED && isFinal;
  }

  boolean hasTimedOut() {
    return status == Status.FAILED && cause == Cause.TIMEOUT;
  }

  /** Whether not its code has said how it ended. */
  boolean hasNoValue() {
    return hasTimedOut() || (status == Status.FAILED && cause == Cause.INTERRUPTED);
  }

  boolean isChild() {
    return !childRunId.isEmpty();
  }
}
