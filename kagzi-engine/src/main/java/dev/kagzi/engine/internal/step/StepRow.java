package dev.kagzi.engine.internal.step;

import dev.kagzi.engine.internal.value.SleepSql;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepRef;
import dev.kagzi.engine.value.StepStatus;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a step: a row of {@code step_runs}. Times are microseconds since 1970.
 *
 * @param runAttempt the attempt of the run that made this attempt
 * @param isFinal no retry follows: the workflow code receives the failure
 * @param dueUs when the next attempt is due, when a sleep is over, or when a receive times out
 * @param timeoutUs when a running attempt times out; null in a row that was read
 * @param ranUs how long the attempt had been running at the time of the report; 0 in a row that was
 *     read
 * @param child the child run that executes the step; null for a step of the run's own code
 * @param inputHash hash of the input, to detect a changed input at replay; null for none
 * @param progress progress that the step's code recorded; null for none
 * @param name the step's name; null if it is part of the key
 */
public record StepRow(
    RunId runId,
    String stepKey,
    int attempt,
    int epoch,
    int runAttempt,
    StepKind kind,
    StepStatus status,
    boolean isFinal,
    @Nullable Payload input,
    @Nullable Payload output,
    @Nullable Failure failure,
    @Nullable String retryPolicy,
    @Nullable Long dueUs,
    @Nullable Long timeoutUs,
    long ranUs,
    @Nullable RunId child,
    @Nullable String inputHash,
    @Nullable Payload progress,
    @Nullable String name) {

  public record Key(RunId runId, String stepKey) {}

  public Key key() {
    return new Key(runId, stepKey);
  }

  /** A completed function without input and hash: the common case, with its own statement. */
  public boolean isPlainResult() {
    return status == StepStatus.COMPLETED
        && kind == StepKind.FUNCTION
        && input == null
        && inputHash == null;
  }

  /** The name of the signal that a step of kind SIGNAL receives. */
  public String signalName() {
    return name == null ? new StepRef(runId, stepKey, attempt, epoch).name() : name;
  }

  /** Whether the step waits for a signal. */
  public boolean isReceiving() {
    return kind == StepKind.SIGNAL && status == StepStatus.RUNNING;
  }

  /** Whether the attempt has completed: with a result, or as a sleep whose wake time has passed. */
  public boolean isCompleted(long nowUs) {
    return status == StepStatus.COMPLETED || isOverSleep(nowUs);
  }

  private boolean isOverSleep(long nowUs) {
    return kind == StepKind.SLEEP
        && status == StepStatus.RUNNING
        && dueUs != null
        && dueUs <= nowUs;
  }

  /**
   * Returns {@code recordedUs}, or the wake time of a sleep that is over by time. Such a sleep
   * often begins in the transaction that records the result before it, so only its wake time shows
   * which of the two was first.
   */
  long endUs(long recordedUs, long nowUs) {
    return dueUs != null && isOverSleep(nowUs) ? Math.max(recordedUs, dueUs) : recordedUs;
  }

  public boolean isFinalIn(int currentRunAttempt) {
    return status == StepStatus.FAILED && isFinal && runAttempt == currentRunAttempt;
  }

  /** This attempt as a worker receives it; call it only for the last attempt of a step. */
  public RecordedStep recorded(long nowUs, int currentRunAttempt) {
    return new RecordedStep(
        stepKey, attempt, kind, result(nowUs, currentRunAttempt), child, inputHash, progress, null);
  }

  private RecordedStep.Result result(long nowUs, int currentRunAttempt) {
    Failure why =
        failure == null ? Failure.of(dev.kagzi.engine.value.ErrorCode.INTERNAL, "") : failure;
    return switch (status) {
      // A receive without an output has timed out; a received signal has one, even if it is empty.
      case COMPLETED ->
          kind == StepKind.SIGNAL && output == null
              ? new RecordedStep.Result.TimedOut()
              : new RecordedStep.Result.Output(output == null ? Payload.EMPTY : output);
      // A failure of an earlier run attempt is retried at once.
      case FAILED ->
          runAttempt != currentRunAttempt
              ? new RecordedStep.Result.Retry(why, 0)
              : isFinal
                  ? new RecordedStep.Result.FinalFailure(why)
                  : new RecordedStep.Result.Retry(why, remainingMs(nowUs));
      case RUNNING, PENDING -> open(nowUs);
    };
  }

  private RecordedStep.Result open(long nowUs) {
    if (dueUs == null || (kind != StepKind.SLEEP && kind != StepKind.SIGNAL)) {
      return new RecordedStep.Result.Open();
    }
    // In a scope, the worker has to record the end of the sleep: see SleepSql.
    return isCompleted(nowUs) && !SleepSql.isInScope(stepKey, name)
        ? new RecordedStep.Result.Output(Payload.EMPTY)
        : new RecordedStep.Result.Sleeping(remainingMs(nowUs));
  }

  /** Milliseconds until the due time, rounded up so that a timer never fires early. */
  public long remainingMs(long nowUs) {
    return dueUs == null ? 0 : Math.max(0, Math.ceilDiv(dueUs - nowUs, 1_000L));
  }
}
