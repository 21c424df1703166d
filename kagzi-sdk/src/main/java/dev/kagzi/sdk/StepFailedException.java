package dev.kagzi.sdk;

/**
 * Thrown to workflow code when a step failed permanently: no attempt was left, or its error is not
 * retried.
 *
 * <p>A workflow may catch it to compensate. {@link WorkFailedException} also covers children and
 * branches.
 */
public final class StepFailedException extends WorkFailedException {

  /** Called by the SDK. */
  public StepFailedException(String step, Failure failure) {
    super(ClientCode.STEP_FAILED, "step %s failed: %s".formatted(step, failure), step, failure);
  }
}
