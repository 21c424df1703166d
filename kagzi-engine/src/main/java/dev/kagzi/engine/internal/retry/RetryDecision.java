package dev.kagzi.engine.internal.retry;

import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.value.Failure;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

public sealed interface RetryDecision {
  record RetryAfter(long delayMs) implements RetryDecision {}

  record GiveUp(String why) implements RetryDecision {}

  /** Decides what follows the failure of the given attempt, counted from 1. */
  static RetryDecision of(
      RetryPolicy policy, int attempt, Failure failure, RandomGenerator random) {
    if (failure.nonRetryable()) {
      return new GiveUp("the failure is marked as not retryable");
    }
    for (String like : policy.nonRetryable()) {
      if (isLike(failure, like)) {
        return new GiveUp("failures like \"" + like + "\" are not retried");
      }
    }
    String kind = failure.metadata().getOrDefault("kind", "UNKNOWN");
    if (!policy.retryableKinds().isEmpty() && !policy.retryableKinds().contains(kind)) {
      return new GiveUp("failures of kind " + kind + " are not retried");
    }
    int max = policy.attemptsMax();
    if (max != RetryPolicy.UNLIMITED && attempt >= max) {
      return new GiveUp("attempt " + attempt + " of " + max + " was the last");
    }
    return new RetryAfter(
        failure.retryAfterMs() > 0
            ? Math.min(failure.retryAfterMs(), RetryPolicy.RETRY_AFTER_MS_MAX)
            : delayMs(policy, attempt, random));
  }

  /** Compares type, supertypes, package (ending with a dot), kind and the start of the message. */
  private static boolean isLike(Failure failure, String like) {
    Map<String, String> metadata = failure.metadata();
    String type = metadata.getOrDefault("type", "");
    return failure.message().startsWith(like)
        || like.equals(type)
        || (like.endsWith(".") && type.startsWith(like))
        || like.equals(metadata.get("kind"))
        || List.of(metadata.getOrDefault("supertypes", "").split(",")).contains(like);
  }

  private static long delayMs(RetryPolicy policy, int attempt, RandomGenerator random) {
    double max = policy.delayMaxMs();
    double exact =
        Math.min(max, policy.delayFirstMs() * Math.pow(policy.coefficient(), attempt - 1.0));
    double spread = exact * (1 + policy.jitter() * (2 * random.nextDouble() - 1));
    return Math.min(policy.delayMaxMs(), Math.round(spread));
  }
}
