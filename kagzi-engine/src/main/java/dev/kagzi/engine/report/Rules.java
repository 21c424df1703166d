package dev.kagzi.engine.report;

import dev.kagzi.engine.retry.CrashPolicy;
import dev.kagzi.engine.retry.RetryPolicy;

/**
 * What the engine decides by.
 *
 * @param defaultPolicy where neither step nor run have one
 * @param shortWaitMs a wait below this is waited for in place
 * @param crashes what becomes of runs whose workers die
 * @param stepTimeoutMs how long an attempt of a step may take where neither step nor run say
 *     otherwise
 * @param stepGraceMs so much later the server ends an attempt that its worker should have ended
 */
public record Rules(
    RetryPolicy defaultPolicy,
    long shortWaitMs,
    CrashPolicy crashes,
    long stepTimeoutMs,
    long stepGraceMs) {

  public static final Rules DEFAULT =
      new Rules(RetryPolicy.DEFAULT, 1_000, CrashPolicy.DEFAULT, 600_000, 5_000);

  public Rules withCrashes(CrashPolicy other) {
    return new Rules(defaultPolicy, shortWaitMs, other, stepTimeoutMs, stepGraceMs);
  }

  public Rules withStepGraceMs(long graceMs) {
    return new Rules(defaultPolicy, shortWaitMs, crashes, stepTimeoutMs, graceMs);
  }
}
