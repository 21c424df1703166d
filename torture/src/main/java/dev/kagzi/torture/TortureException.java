package dev.kagzi.torture;

import org.jspecify.annotations.Nullable;

/** The torture test itself cannot continue; its message is printed. */
final class TortureException extends RuntimeException {
  TortureException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  TortureException(String message) {
    this(message, null);
  }

  static TortureException interrupted(InterruptedException cause) {
    Thread.currentThread().interrupt();
    return new TortureException("interrupted", cause);
  }
}
