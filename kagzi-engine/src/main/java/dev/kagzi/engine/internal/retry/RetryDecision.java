package dev.kagzi.engine.internal.retry;

public sealed interface RetryDecision {
  record RetryAfter(long delayMs) implements RetryDecision {}

  record GiveUp(String why) implements RetryDecision {}
}
