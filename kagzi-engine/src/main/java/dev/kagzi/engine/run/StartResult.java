package dev.kagzi.engine.run;

import dev.kagzi.engine.value.RunId;

/**
 * What became of a wish to start.
 *
 * @param existed true when an active run with the same external id was there before
 */
public record StartResult(RunId runId, boolean existed) {}
