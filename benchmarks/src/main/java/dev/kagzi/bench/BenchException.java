package dev.kagzi.bench;

import org.jspecify.annotations.Nullable;

/** An error that the user can fix; only its message is shown. */
final class BenchException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  BenchException(String message) {
    this(message, null);
  }

  BenchException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
