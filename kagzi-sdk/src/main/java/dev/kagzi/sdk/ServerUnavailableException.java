package dev.kagzi.sdk;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when no server answered in time, or when the client was closed during the call. It is
 * unknown whether the call took effect.
 */
public final class ServerUnavailableException extends KagziException {
  public ServerUnavailableException(String message, @Nullable Throwable cause) {
    super(ClientCode.UNAVAILABLE, message, cause);
  }
}
