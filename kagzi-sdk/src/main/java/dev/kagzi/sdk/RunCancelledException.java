package dev.kagzi.sdk;

/** The run has no result: it was cancelled. */
public final class RunCancelledException extends KagziException {
  private final String runId;

  public RunCancelledException(String runId) {
    super("run %s was cancelled".formatted(runId), null);
    this.runId = runId;
  }

  public String runId() {
    return runId;
  }

  @Override
  public String code() {
    return "run-cancelled";
  }
}
