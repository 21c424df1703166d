package dev.kagzi.sdk;

import org.jspecify.annotations.Nullable;

/**
 * A step has failed for good: no attempt was left, or no retry was allowed. A workflow may catch it
 * and compensate; the failure is recorded, so that a replay sees it again. Uncaught it fails the
 * run.
 */
public final class StepFailedException extends KagziException {
  private final String step;
  private final Failure failure;

  /**
   * Made by the SDK.
   *
   * @param cause what the step threw, when it threw it in this very process
   */
  public StepFailedException(String step, Failure failure, @Nullable Throwable cause) {
    super("step %s failed: %s".formatted(step, failure), cause);
    this.step = step;
    this.failure = failure;
  }

  /** The step's name, with its occurrence from the second on: {@code charge#2}. */
  public String step() {
    return step;
  }

  public Failure failure() {
    return failure;
  }

  /** What sort of error it was. */
  public ErrorKind kind() {
    return failure.kind();
  }

  @Override
  public String code() {
    return "step-failed";
  }
}
