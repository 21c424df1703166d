package dev.kagzi.engine.step;

import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepStatus;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a step, as it is or is to be stored. Times are microseconds since 1970.
 *
 * @param runAttempt the attempt of the run within which it was made
 * @param isFinal a failure that the workflow's code has seen
 * @param dueUs when the next attempt may run, or when a sleep is over
 * @param timeoutUs when an open attempt has taken too long
 * @param ranMs how long it has been running when it was reported
 * @param child the run that carries the step out; null for a step of the run's own code
 * @param inputHash of an input that is compared; null for none
 * @param progress how far the attempt had come, as its code said
 * @param name what the step is called; null when its key says so
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
    long ranMs,
    @Nullable RunId child,
    @Nullable String inputHash,
    @Nullable Payload progress,
    @Nullable String name) {

  /** Names the step within all runs. */
  public record Key(RunId runId, String stepKey) {}

  public Key key() {
    return new Key(runId, stepKey);
  }

  /** A function's result that needs nothing but itself: the common case, written most cheaply. */
  public boolean isPlainResult() {
    return status == StepStatus.COMPLETED
        && kind == StepKind.FUNCTION
        && input == null
        && inputHash == null;
  }

  /** A failure that the code has seen in this attempt of the run. */
  public boolean isFinalIn(int presentRunAttempt) {
    return status == StepStatus.FAILED && isFinal && runAttempt == presentRunAttempt;
  }

  /** What a worker is told of this attempt, if it is the step's last. */
  public RecordedStep recorded(long nowUs, int presentRunAttempt) {
    return new RecordedStep(
        stepKey, attempt, kind, result(nowUs, presentRunAttempt), child, inputHash, progress, null);
  }

  private RecordedStep.Result result(long nowUs, int presentRunAttempt) {
    Failure why =
        failure == null ? Failure.of(dev.kagzi.engine.value.ErrorCode.INTERNAL, "") : failure;
    return switch (status) {
      case COMPLETED -> new RecordedStep.Result.Output(output == null ? Payload.EMPTY : output);
      // An attempt of the run that is over has left nothing to wait for.
      case FAILED ->
          runAttempt != presentRunAttempt
              ? new RecordedStep.Result.Retry(why, 0)
              : isFinal
                  ? new RecordedStep.Result.FinalFailure(why)
                  : new RecordedStep.Result.Retry(why, remainingMs(nowUs));
      case RUNNING, PENDING ->
          kind == StepKind.SLEEP && dueUs != null
              ? new RecordedStep.Result.Sleeping(remainingMs(nowUs))
              : new RecordedStep.Result.Open();
    };
  }

  /** Milliseconds until the due time, rounded up: nobody wakes early. */
  public long remainingMs(long nowUs) {
    return dueUs == null ? 0 : Math.max(0, Math.ceilDiv(dueUs - nowUs, 1_000L));
  }
}
