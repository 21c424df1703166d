package dev.kagzi.engine.internal.dispatch;

/**
 * Work for {@link ClaimLoop}.
 *
 * @param isFallback only checks for due runs that no event announced
 */
record ClaimRequest(TaskQueue queue, boolean isFallback) {}
