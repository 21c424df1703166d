package dev.kagzi.sdk;

import org.jspecify.annotations.Nullable;

/**
 * Thrown by a step or a workflow whose failure is final, regardless of the retry policy. As the
 * cause of another exception it has no effect: that exception is retried.
 */
public class NonRetryableException extends RuntimeException {
  public NonRetryableException(String message) {
    super(message);
  }

  public NonRetryableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
