package dev.kagzi.engine.internal.retry;

/** The decision after a failed attempt. */
public sealed interface RetryDecision {
  /** Retry after the delay. */
  record RetryAfter(long delayMs) implements RetryDecision {}

  /** No retry; the failure is final. */
  record GiveUp(String why) implements RetryDecision {}
}
