package dev.kagzi.engine.internal.dispatch;

/**
 * Work for {@link ClaimLoop}.
 *
 * @param isFallback true to check for due runs that no event announced, without claiming them
 */
record ClaimRequest(TaskQueue queue, boolean isFallback) {}
