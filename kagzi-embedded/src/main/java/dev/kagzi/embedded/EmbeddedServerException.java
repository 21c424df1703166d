package dev.kagzi.embedded;

import org.jspecify.annotations.Nullable;

/** A server inside the application could not be started. The message says why and what to do. */
public final class EmbeddedServerException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Called by this module. */
  public EmbeddedServerException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
