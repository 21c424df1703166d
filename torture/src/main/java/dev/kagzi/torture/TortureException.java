package dev.kagzi.torture;

import org.jspecify.annotations.Nullable;

/** The torture itself cannot go on; its message is for people. */
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
