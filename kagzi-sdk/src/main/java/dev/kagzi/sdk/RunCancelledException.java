package dev.kagzi.sdk;

/** Thrown when the result of a cancelled run is requested. */
public final class RunCancelledException extends KagziException {
  private final String runId;

  public RunCancelledException(String runId) {
    super(ClientCode.RUN_CANCELLED, "run %s was cancelled".formatted(runId), null);
    this.runId = runId;
  }

  /** Returns the run's id. */
  public String runId() {
    return runId;
  }
}
