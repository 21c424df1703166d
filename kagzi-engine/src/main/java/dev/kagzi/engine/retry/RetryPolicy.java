package dev.kagzi.engine.retry;

import dev.kagzi.engine.internal.retry.RetryDecision;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Refusal;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * When and how often failed attempts are retried.
 *
 * @param attemptsMax number of executions: 1 means no retry, -1 no limit
 * @param jitter the fraction by which a delay varies in both directions; {@code delayMaxMs} caps
 *     the result
 * @param nonRetryable failures that are not retried, by type or supertype, package, kind or message
 *     prefix
 * @param retryableKinds the only kinds that are retried; empty: all
 */
public record RetryPolicy(
    int attemptsMax,
    long delayFirstMs,
    double coefficient,
    long delayMaxMs,
    double jitter,
    List<String> nonRetryable,
    List<String> retryableKinds) {

  public static final int UNLIMITED = -1;

  /** The default, unless options change it; also fills fields missing in a stored policy. */
  public static final RetryPolicy DEFAULT = new RetryPolicy(3, 1_000, 2.0, 60_000, 0.25, List.of());

  /** Creates a policy without {@code retryableKinds}. */
  public RetryPolicy(
      int attemptsMax,
      long delayFirstMs,
      double coefficient,
      long delayMaxMs,
      double jitter,
      List<String> nonRetryable) {
    this(attemptsMax, delayFirstMs, coefficient, delayMaxMs, jitter, nonRetryable, List.of());
  }

  /** Upper bound of the delay that a failure itself may request. */
  public static final long RETRY_AFTER_MS_MAX = 30L * 24 * 60 * 60 * 1000;

  private static final long DELAY_MS_MAX = 365L * 24 * 60 * 60 * 1000;

  public RetryPolicy {
    check(
        attemptsMax == UNLIMITED || attemptsMax >= 1,
        "maximum_attempts",
        attemptsMax,
        ">= 1, or -1 for no limit");
    check(
        delayFirstMs >= 0 && delayFirstMs <= DELAY_MS_MAX,
        "initial_interval_ms",
        delayFirstMs,
        "0 to " + DELAY_MS_MAX);
    check(
        coefficient >= 1.0 && coefficient <= 1_000,
        "backoff_coefficient",
        coefficient,
        "1.0 to 1000.0");
    check(
        delayMaxMs >= delayFirstMs && delayMaxMs <= DELAY_MS_MAX,
        "maximum_interval_ms",
        delayMaxMs,
        delayFirstMs + " to " + DELAY_MS_MAX);
    check(jitter >= 0 && jitter <= 1, "jitter", jitter, "0.0 to 1.0");
    nonRetryable = List.copyOf(nonRetryable);
    retryableKinds = List.copyOf(retryableKinds);
  }

  /** Decides what follows the failure of the given attempt, counted from 1. */
  public RetryDecision after(int attempt, Failure failure, RandomGenerator random) {
    if (failure.nonRetryable()) {
      return new RetryDecision.GiveUp("the failure is marked as not retryable");
    }
    for (String like : nonRetryable) {
      if (isLike(failure, like)) {
        return new RetryDecision.GiveUp("failures like \"" + like + "\" are not retried");
      }
    }
    String kind = failure.metadata().getOrDefault("kind", "UNKNOWN");
    if (!retryableKinds.isEmpty() && !retryableKinds.contains(kind)) {
      return new RetryDecision.GiveUp("failures of kind " + kind + " are not retried");
    }
    if (attemptsMax != UNLIMITED && attempt >= attemptsMax) {
      return new RetryDecision.GiveUp(
          "attempt " + attempt + " of " + attemptsMax + " was the last");
    }
    long delayMs =
        failure.retryAfterMs() > 0
            ? Math.min(failure.retryAfterMs(), RETRY_AFTER_MS_MAX)
            : delayMs(attempt, random);
    return new RetryDecision.RetryAfter(delayMs);
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

  private long delayMs(int attempt, RandomGenerator random) {
    double exact =
        Math.min((double) delayMaxMs, (double) delayFirstMs * Math.pow(coefficient, attempt - 1.0));
    double spread = jitter == 0 ? exact : exact * (1 + jitter * (2 * random.nextDouble() - 1));
    return Math.min(delayMaxMs, Math.round(spread));
  }

  private static void check(boolean holds, String field, Object found, String expected) {
    if (!holds) {
      throw Refusal.invalid("retry_policy." + field, found, expected);
    }
  }
}
