package dev.kagzi.sdk;

/**
 * A child has no result. A workflow may catch it and go another way; it is recorded, so that a
 * replay sees it again. Uncaught it fails the run.
 */
public final class ChildFailedException extends KagziException {
  private final String step;
  private final String runId;
  private final RunStatus status;
  private final Failure failure;

  /** Made by the SDK. */
  public ChildFailedException(String step, String runId, RunStatus status, Failure failure) {
    super(
        ClientCode.CHILD_FAILED,
        "child %s (run %s) ended as %s: %s".formatted(step, runId, status, failure),
        null);
    this.step = step;
    this.runId = runId;
    this.status = status;
    this.failure = failure;
  }

  /** The step that the child was. */
  public String step() {
    return step;
  }

  /** The child's run id. */
  public String runId() {
    return runId;
  }

  /** {@code FAILED}, {@code CANCELLED} or {@code TIMED_OUT}. */
  public RunStatus status() {
    return status;
  }

  public Failure failure() {
    return failure;
  }
}
