package dev.kagzi.engine.retry;

/** What follows a failed attempt. */
public sealed interface RetryDecision {
  /** Another attempt, so many milliseconds from now. */
  record RetryAfter(long delayMs) implements RetryDecision {}

  /** None; the failure is final. */
  record GiveUp(String why) implements RetryDecision {}
}
