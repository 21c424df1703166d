package dev.kagzi.engine.run;

import dev.kagzi.engine.value.RunId;

/**
 * The result of a retry call.
 *
 * @param runId the new run, or the active run that prevented it
 * @param alreadyRunning true if no new run was started
 */
public record RetryResult(RunId runId, boolean alreadyRunning) {}
