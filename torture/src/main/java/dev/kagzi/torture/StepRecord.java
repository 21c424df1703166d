package dev.kagzi.torture;

/**
 * A row of one attempt of a step in the tables.
 *
 * @param epoch of the claim that recorded it
 * @param runAttempt the attempt of the run that contains it
 * @param isWait a sleep or a receive, which has no code of its own
 * @param endsByTime a sleep that ended at its wake time, without a write of any claim
 * @param isFinal a failure that is not retried within this attempt of the run
 * @param cause why it ended
 * @param value the output, or the failure's message
 * @param createdMicros by the database's clock; of a sleep, when it began
 * @param finishedMicros by the database's clock; 0 if unfinished
 * @param childRunId the child run of the step; empty for a step of the run's own code
 */
record StepRecord(
    String runId,
    String step,
    int attempt,
    int epoch,
    int runAttempt,
    boolean isWait,
    boolean endsByTime,
    Status status,
    boolean isFinal,
    Cause cause,
    String value,
    long createdMicros,
    long finishedMicros,
    String childRunId) {

  /** As in the tables. */
  enum Status {
    PENDING,
    RUNNING,
    COMPLETED,
    FAILED
  }

  /** Why an attempt ended. */
  enum Cause {
    /** Its code has returned or thrown. */
    CODE,
    /** It has exceeded its time-out. */
    TIMEOUT,
    /** Its run was ended from outside. */
    RUN_ENDED,
    /** The code learnt here that its run is cancelled. */
    CANCELLED,
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

  /** Whether the attempt ended without a result of its code: by a timeout, or interrupted. */
  boolean hasNoValue() {
    return hasTimedOut() || (status == Status.FAILED && cause == Cause.INTERRUPTED);
  }

  boolean isChild() {
    return !childRunId.isEmpty();
  }
}
