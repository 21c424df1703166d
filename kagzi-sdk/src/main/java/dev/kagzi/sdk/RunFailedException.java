package dev.kagzi.sdk;

/** The run has no result: it failed, or its deadline passed. */
public final class RunFailedException extends KagziException {
  private final String runId;
  private final RunStatus status;
  private final Failure failure;

  public RunFailedException(String runId, RunStatus status, Failure failure) {
    super("run %s ended as %s%s: %s".formatted(runId, status, place(failure), failure), null);
    this.runId = runId;
    this.status = status;
    this.failure = failure;
  }

  private static String place(Failure failure) {
    return failure.step().map(step -> " in step " + step).orElse("");
  }

  public String runId() {
    return runId;
  }

  /** {@code FAILED} or {@code TIMED_OUT}. */
  public RunStatus status() {
    return status;
  }

  public Failure failure() {
    return failure;
  }

  @Override
  public String code() {
    return "run-failed";
  }
}
