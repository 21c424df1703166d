package dev.kagzi.server;

import dev.kagzi.engine.value.SchemaException;

/** A server did not start for an expected reason, such as a taken port. The message is one line. */
public final class ServerStartException extends RuntimeException {
  ServerStartException(String message, Throwable cause) {
    super(message, cause);
  }

  public boolean isOfSchema() {
    return getCause() instanceof SchemaException;
  }
}
