package dev.kagzi.engine.retry;

import dev.kagzi.engine.value.Refusal;
import java.util.List;

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

  private static void check(boolean holds, String field, Object found, String expected) {
    if (!holds) {
      throw Refusal.invalid("retry_policy." + field, found, expected);
    }
  }
}
