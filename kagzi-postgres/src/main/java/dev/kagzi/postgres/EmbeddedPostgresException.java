package dev.kagzi.postgres;

import org.jspecify.annotations.Nullable;

/** An operation of the embedded server failed. The message can be shown to users unchanged. */
public final class EmbeddedPostgresException extends RuntimeException {

  EmbeddedPostgresException(String message) {
    super(message);
  }

  EmbeddedPostgresException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
