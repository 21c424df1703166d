package dev.kagzi.engine.value;

import org.jspecify.annotations.Nullable;

/**
 * The last attempt of a step, as a worker receives it.
 *
 * @param child the child run that executes the step; null for a step of the run's own code
 * @param inputHash hash of the input, to detect a changed input at replay; null for none
 * @param progress the last progress of the attempt; null if it is completed or recorded none
 * @param place position among the steps of its claim; null outside of histories, for children, and
 *     for steps of an earlier attempt of the run
 */
public record RecordedStep(
    String stepKey,
    int attempt,
    StepKind kind,
    Result result,
    @Nullable RunId child,
    @Nullable String inputHash,
    @Nullable Payload progress,
    @Nullable Place place) {

  /**
   * The position of a step among the steps of its claim.
   *
   * @param recordedUs when the step ended or, if it has not, when it was created
   */
  public record Place(int epoch, long recordedUs) {}

  public RecordedStep withPlace(Place other) {
    return new RecordedStep(stepKey, attempt, kind, result, child, inputHash, progress, other);
  }

  public sealed interface Result {
    record Output(Payload payload) implements Result {}

    /** Failed finally in this attempt of the run. */
    record FinalFailure(Failure failure) implements Result {}

    /** Failed; the next attempt is due after the delay (0: now). */
    record Retry(Failure failure, long delayMs) implements Result {}

    /** A receive whose timeout has passed without a signal. */
    record TimedOut() implements Result {}

    /** A sleep, or a receive with a timeout, with its remaining time (0: over). */
    record Sleeping(long remainingMs) implements Result {}

    /** Reported as running, without a result. */
    record Open() implements Result {}
  }

  public int bytes() {
    int content =
        switch (result) {
          case Result.Output(Payload payload) -> payload.bytes();
          case Result.FinalFailure(Failure failure) -> failure.bytes();
          case Result.Retry(Failure failure, long ignored) -> failure.bytes();
          case Result.Sleeping ignored -> 8;
          case Result.TimedOut ignored -> 1;
          case Result.Open ignored -> 1;
        };
    int extra =
        (child == null ? 0 : 40)
            + (inputHash == null ? 0 : inputHash.length())
            + (place == null ? 0 : 20);
    return content + stepKey.length() + 16 + extra + (progress == null ? 0 : progress.bytes());
  }
}
