package dev.kagzi.sdk;

/**
 * A child has no result. A workflow may catch it and go another way; {@link WorkFailedException}
 * also covers steps and branches.
 */
public final class ChildFailedException extends WorkFailedException {
  private final String runId;
  private final RunStatus status;

  /** Made by the SDK. */
  public ChildFailedException(String step, String runId, RunStatus status, Failure failure) {
    super(
        ClientCode.CHILD_FAILED,
        "child %s (run %s) ended as %s: %s".formatted(step, runId, status, failure),
        step,
        failure);
    this.runId = runId;
    this.status = status;
  }

  /** The child's run id. */
  public String runId() {
    return runId;
  }

  /** {@code FAILED}, {@code CANCELLED} or {@code TIMED_OUT}. */
  public RunStatus status() {
    return status;
  }
}
