package dev.kagzi.engine.run;

import dev.kagzi.engine.value.RunId;

/**
 * The signal is stored: in a run that was open, or in a run that the call has started.
 *
 * @param started true if this call, or an earlier try of it, has started the run
 * @param known true if an earlier call has sent the signal
 */
public record SignalStartResult(RunId runId, boolean started, boolean known) {}
