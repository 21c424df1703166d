package dev.kagzi.engine.run;

import dev.kagzi.engine.value.RunStatus;

/**
 * The result of a cancel or terminate call.
 *
 * @param cancelled false if the run had already ended in another way
 */
public record CancelResult(boolean cancelled, RunStatus status) {}
