package dev.kagzi.server;

/** Why a server did not start, when that is nothing to be surprised at. One line for a person. */
public final class ServerStartException extends RuntimeException {
  ServerStartException(String message, Throwable cause) {
    super(message, cause);
  }
}
