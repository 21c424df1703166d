package dev.kagzi.sdk;

/**
 * A step has failed for good: no attempt was left, or no retry was allowed. A workflow may catch it
 * and go another way; {@link WorkFailedException} also covers children and branches.
 */
public final class StepFailedException extends WorkFailedException {

  /** Made by the SDK. */
  public StepFailedException(String step, Failure failure) {
    super(ClientCode.STEP_FAILED, "step %s failed: %s".formatted(step, failure), step, failure);
  }
}
