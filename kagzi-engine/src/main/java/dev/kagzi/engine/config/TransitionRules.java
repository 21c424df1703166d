package dev.kagzi.engine.config;

import dev.kagzi.engine.retry.CrashPolicy;
import dev.kagzi.engine.retry.RetryPolicy;

/**
 * Server-wide rules of state transitions.
 *
 * @param defaultPolicy retry policy of steps when neither the step nor the run has one
 * @param shortWaitMs a worker keeps its claim during a shorter wait than this, unless it is a
 *     simple client
 * @param crashes back-off and limit for runs whose workers crash
 * @param stepTimeoutMs timeout of a step attempt when neither the step nor the run sets one
 * @param stepGraceMs how long the server waits, after the timeout of a step attempt, for the worker
 *     to fail it; then the server fails it
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
