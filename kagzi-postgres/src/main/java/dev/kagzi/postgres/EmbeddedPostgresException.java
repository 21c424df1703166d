package dev.kagzi.postgres;

import org.jspecify.annotations.Nullable;

/** The embedded server could not do what it was asked for. The message is fit to be shown as is. */
public final class EmbeddedPostgresException extends RuntimeException {

  EmbeddedPostgresException(String message) {
    super(message);
  }

  EmbeddedPostgresException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
