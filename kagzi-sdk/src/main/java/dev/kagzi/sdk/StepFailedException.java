package dev.kagzi.sdk;

/**
 * A step has failed for good: no attempt was left, or no retry was allowed. A workflow may catch it
 * and compensate; the failure is recorded, so that a replay sees it again. Uncaught it fails the
 * run.
 *
 * <p>It has no cause: what the step threw is gone when the code is replayed, and the code must take
 * the same way then. The record has it all: {@link #failure()}, {@link Failure#isA}.
 */
public final class StepFailedException extends KagziException {
  private final String step;
  private final Failure failure;

  /** Made by the SDK. */
  public StepFailedException(String step, Failure failure) {
    super(ClientCode.STEP_FAILED, "step %s failed: %s".formatted(step, failure), null);
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
}
