package dev.kagzi.sdk;

import org.jspecify.annotations.Nullable;

/** Thrown when the server rejects a request; sending it again does not help. */
public final class RequestRefusedException extends KagziException {

  /** Called by the SDK. */
  public RequestRefusedException(String code, String message, @Nullable Throwable cause) {
    super(code, message, cause);
  }
}
