package dev.kagzi.sdk;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Thrown by a step that knows when to retry, for example from a {@code Retry-After} header. The
 * delay replaces the delay of the retry policy. After a delay of zero the step is retried at once;
 * a delay of more than 30 days is shortened to 30 days. The policy still limits the number of
 * attempts. As the cause of another exception it has no effect.
 */
public class RetryAfterException extends RuntimeException {
  private final Duration delay;

  public RetryAfterException(String message, Duration delay) {
    this(message, delay, null);
  }

  public RetryAfterException(String message, Duration delay, @Nullable Throwable cause) {
    super(message, cause);
    if (delay.isNegative()) {
      throw new IllegalArgumentException("delay: " + delay + " (expected: >= 0)");
    }
    this.delay = delay;
  }

  /** Returns the delay before the next attempt. */
  public Duration delay() {
    return delay;
  }
}
