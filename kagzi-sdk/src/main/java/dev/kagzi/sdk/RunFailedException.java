package dev.kagzi.sdk;

/** Thrown when the result of a failed or timed-out run is requested. */
public final class RunFailedException extends KagziException {
  private final String runId;
  private final RunStatus status;
  private final Failure failure;

  public RunFailedException(String runId, RunStatus status, Failure failure) {
    super(
        status == RunStatus.TIMED_OUT ? ClientCode.RUN_TIMED_OUT : ClientCode.RUN_FAILED,
        "run %s ended as %s%s: %s".formatted(runId, status, place(failure), failure),
        null);
    this.runId = runId;
    this.status = status;
    this.failure = failure;
  }

  private static String place(Failure failure) {
    return failure.step().map(step -> " in step " + step).orElse("");
  }

  /** Returns the run's id. */
  public String runId() {
    return runId;
  }

  /** Returns how the run ended: {@code FAILED} or {@code TIMED_OUT}. */
  public RunStatus status() {
    return status;
  }

  /** Returns the recorded error. */
  public Failure failure() {
    return failure;
  }
}
