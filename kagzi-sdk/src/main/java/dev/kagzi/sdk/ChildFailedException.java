package dev.kagzi.sdk;

/**
 * Thrown to workflow code when a child failed, timed out or was cancelled.
 *
 * <p>A workflow may catch it to compensate. {@link WorkFailedException} also covers steps and
 * branches.
 */
public final class ChildFailedException extends WorkFailedException {
  private final String runId;
  private final RunStatus status;

  /** Called by the SDK. */
  public ChildFailedException(String step, String runId, RunStatus status, Failure failure) {
    super(
        ClientCode.CHILD_FAILED,
        "child %s (run %s) ended as %s: %s".formatted(step, runId, status, failure),
        step,
        failure);
    this.runId = runId;
    this.status = status;
  }

  /** Returns the child's run id. */
  public String runId() {
    return runId;
  }

  /** Returns how the child ended: {@code FAILED}, {@code CANCELLED} or {@code TIMED_OUT}. */
  public RunStatus status() {
    return status;
  }
}
