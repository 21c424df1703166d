package dev.kagzi.sdk;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when no server answered in time, when the server could not serve the call until the
 * timeout (overloaded, stopping, no database), or when the client was closed during the call. Also
 * thrown when the thread is interrupted, or its gRPC context ends, during a call; a start and a
 * wait for a result throw {@link WaitInterruptedException} instead. It is unknown whether the call
 * took effect.
 */
public final class ServerUnavailableException extends KagziException {
  public ServerUnavailableException(String message, @Nullable Throwable cause) {
    super(ClientCode.UNAVAILABLE, message, cause);
  }
}
