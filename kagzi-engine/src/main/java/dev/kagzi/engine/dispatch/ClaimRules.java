package dev.kagzi.engine.dispatch;

import dev.kagzi.engine.retry.CrashPolicy;

/**
 * What claims go by.
 *
 * @param leaseMsMax how long a claim lasts at most without a heartbeat, unless its run says
 *     otherwise
 * @param crashes what becomes of runs whose workers die
 * @param stepTimeoutMs how long an attempt of a step may take, unless its run says otherwise
 */
public record ClaimRules(long leaseMsMax, CrashPolicy crashes, long stepTimeoutMs) {}
