package dev.kagzi.engine.internal.dispatch;

/**
 * Work for {@link ClaimLoop}.
 *
 * @param isFallback only checks whether a run is due that no event announced
 */
record ClaimRequest(TaskQueue queue, boolean isFallback) {}
