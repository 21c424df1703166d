package dev.kagzi.sdk;

/**
 * Thrown when the result of a cancelled run is requested.
 *
 * <p>Also thrown to the code of a run that is cancelled, if its type has {@link
 * WorkflowType#onCancel}: by the call of the context that is in progress or, if there is none, by
 * the next one. The place is recorded, so a replay throws it there again. Catch it to clean up:
 *
 * <pre>{@code
 * } catch (WorkFailedException | RunCancelledException stopped) {
 *   saga.compensate();
 *   throw stopped;
 * }
 * }</pre>
 *
 * <p>From then on, only {@link Saga#compensate()} and {@link WorkflowContext#cleanup} work; all
 * other calls that execute, wait, publish or derive values throw it again. Getters such as {@code
 * runId} and {@code logger} still work. The run ends as CANCELLED, even if the code returns a
 * result or throws another exception.
 */
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
