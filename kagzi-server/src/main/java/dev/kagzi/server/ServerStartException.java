package dev.kagzi.server;

/** A server did not start for an expected reason, such as a taken port. The message is one line. */
public final class ServerStartException extends RuntimeException {
  ServerStartException(String message, Throwable cause) {
    super(message, cause);
  }
}
