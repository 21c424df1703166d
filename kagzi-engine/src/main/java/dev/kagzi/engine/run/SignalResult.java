package dev.kagzi.engine.run;

import dev.kagzi.engine.value.RunId;

/**
 * The signal is stored.
 *
 * @param runId the run that has accepted it
 * @param known true if an earlier call has sent it
 * @param failed true if it is the answer of a callback, and the stored one is a failure
 */
public record SignalResult(RunId runId, boolean known, boolean failed) {
  public SignalResult(RunId runId, boolean known) {
    this(runId, known, false);
  }
}
