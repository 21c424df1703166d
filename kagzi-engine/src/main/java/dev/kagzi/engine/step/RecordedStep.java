package dev.kagzi.engine.step;

import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.StepKind;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one step: its last attempt.
 *
 * @param child the run that carries it out; null for a step of the run's own code
 * @param inputHash of an input that is compared; null for none
 * @param progress how far the attempt had come; null when it has a result, or never said
 * @param place in the order of its claim; null where nobody needs it, for children, and if an
 *     earlier attempt of the run has recorded the step
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
   * Where a step stands among those of its claim.
   *
   * @param recordedUs when it ended; of what has not ended, when it was first heard of
   */
  public record Place(int epoch, long recordedUs) {}

  /** A step of the run's own code, without more. */
  public RecordedStep(String stepKey, int attempt, StepKind kind, Result result) {
    this(stepKey, attempt, kind, result, null, null, null, null);
  }

  RecordedStep at(Place other) {
    return new RecordedStep(stepKey, attempt, kind, result, child, inputHash, progress, other);
  }

  /** How the last attempt stands. */
  public sealed interface Result {
    /** Completed, with this output. */
    record Output(Payload payload) implements Result {}

    /** Failed for good in this attempt of the run. */
    record FinalFailure(Failure failure) implements Result {}

    /** Failed; another attempt is due in so many milliseconds (0: now). */
    record Retry(Failure failure, long delayMs) implements Result {}

    /** A sleep with so many milliseconds to go (0: over). */
    record Sleeping(long remainingMs) implements Result {}

    /** Announced as running, never ended. */
    record Open() implements Result {}
  }

  /** How much of a message's budget this step takes. */
  public int bytes() {
    int content =
        switch (result) {
          case Result.Output(Payload payload) -> payload.bytes();
          case Result.FinalFailure(Failure failure) -> failure.bytes();
          case Result.Retry(Failure failure, long ignored) -> failure.bytes();
          case Result.Sleeping ignored -> 8;
          case Result.Open ignored -> 1;
        };
    int extra =
        (child == null ? 0 : 40)
            + (inputHash == null ? 0 : inputHash.length())
            + (place == null ? 0 : 20);
    return content + stepKey.length() + 16 + extra + (progress == null ? 0 : progress.bytes());
  }
}
