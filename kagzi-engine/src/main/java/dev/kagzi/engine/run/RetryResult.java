package dev.kagzi.engine.run;

import dev.kagzi.engine.value.RunId;

/**
 * What became of a wish to repeat a run.
 *
 * @param runId the new run, or the one that is active in its place
 * @param alreadyRunning no new run was made
 */
public record RetryResult(RunId runId, boolean alreadyRunning) {}
