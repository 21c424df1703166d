package dev.kagzi.sdk;

/** The run has no result: it was cancelled. */
public final class RunCancelledException extends KagziException {
  private final String runId;

  public RunCancelledException(String runId) {
    super(ClientCode.RUN_CANCELLED, "run %s was cancelled".formatted(runId), null);
    this.runId = runId;
  }

  public String runId() {
    return runId;
  }
}
