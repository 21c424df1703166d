package dev.kagzi.sdk.internal.run;

import org.jspecify.annotations.Nullable;

/**
 * Replaces an exception in the log: the recorded text, which begins with its class, and its stack.
 */
final class SanitizedException extends Exception {
  private static final long serialVersionUID = 1;

  SanitizedException(String text, StackTraceElement[] stack, @Nullable Throwable cause) {
    super(text, cause);
    setStackTrace(stack);
  }
}
