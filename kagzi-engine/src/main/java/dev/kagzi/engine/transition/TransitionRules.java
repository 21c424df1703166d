package dev.kagzi.engine.transition;

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
public record TransitionRules(
    RetryPolicy defaultPolicy,
    long shortWaitMs,
    CrashPolicy crashes,
    long stepTimeoutMs,
    long stepGraceMs) {

  public static final TransitionRules DEFAULT =
      new TransitionRules(RetryPolicy.DEFAULT, 1_000, CrashPolicy.DEFAULT, 600_000, 5_000);

  public TransitionRules withCrashes(CrashPolicy other) {
    return new TransitionRules(defaultPolicy, shortWaitMs, other, stepTimeoutMs, stepGraceMs);
  }

  public TransitionRules withStepGraceMs(long graceMs) {
    return new TransitionRules(defaultPolicy, shortWaitMs, crashes, stepTimeoutMs, graceMs);
  }
}
