package dev.kagzi.torture;

/**
 * One attempt of a step as the tables have it.
 *
 * @param epoch of the claim that recorded it
 * @param isSleep a sleep, which has no code of its own
 * @param isFinal a failure after which there is no further attempt
 * @param value the output, or the failure's message
 * @param createdMicros by the database's clock: of a sleep, when it was begun
 * @param finishedMicros by the database's clock; 0 if unfinished
 */
record StepRecord(
    String runId,
    String step,
    int attempt,
    int epoch,
    boolean isSleep,
    Status status,
    boolean isFinal,
    String value,
    long createdMicros,
    long finishedMicros) {

  /** In the words of the tables. */
  enum Status {
    PENDING,
    RUNNING,
    COMPLETED,
    FAILED
  }

  boolean isCompleted() {
    return status == Status.COMPLETED;
  }

  boolean isFinalFailure() {
    return status == Status.FAILED && isFinal;
  }
}
