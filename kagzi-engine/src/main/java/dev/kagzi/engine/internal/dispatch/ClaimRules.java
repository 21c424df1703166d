package dev.kagzi.engine.internal.dispatch;

import dev.kagzi.engine.retry.CrashPolicy;

/**
 * The timeouts and the crash policy of claimed runs.
 *
 * @param leaseMsMax the longest lease without a heartbeat, unless the run has its own
 * @param crashes what happens to runs whose workers die
 * @param stepTimeoutMs the timeout of a step attempt, unless the run has its own
 */
public record ClaimRules(long leaseMsMax, CrashPolicy crashes, long stepTimeoutMs) {}
