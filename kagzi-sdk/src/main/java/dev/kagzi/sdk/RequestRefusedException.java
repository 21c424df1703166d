package dev.kagzi.sdk;

import org.jspecify.annotations.Nullable;

/**
 * The server understood the request and refuses it; sending it again does not help. {@link #code}
 * says why, in the server's words.
 */
public final class RequestRefusedException extends KagziException {

  /** Made by the SDK. */
  public RequestRefusedException(String code, String message, @Nullable Throwable cause) {
    super(code, message, cause);
  }
}
