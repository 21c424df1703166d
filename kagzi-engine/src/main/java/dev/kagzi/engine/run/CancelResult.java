package dev.kagzi.engine.run;

import dev.kagzi.engine.value.RunStatus;

/**
 * What became of a wish to cancel or to terminate.
 *
 * @param cancelled false when the run had ended before in another way
 * @param status the run's status now
 */
public record CancelResult(boolean cancelled, RunStatus status) {}
