package dev.kagzi.sdk;

import org.jspecify.annotations.Nullable;

/** Thrown by a step or a workflow whose failure no further attempt can mend. */
public class NonRetryableException extends RuntimeException {
  public NonRetryableException(String message) {
    super(message);
  }

  public NonRetryableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
