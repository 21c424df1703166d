package dev.kagzi.sdk;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the server refuses a request. Sending it again helps only if the cause has ended, for
 * example with code {@code TOO_MANY_SIGNALS} or {@code NAMESPACE_DISABLED}. The page {@code
 * docs/errors.md} says for each code what to do.
 */
public final class RequestRefusedException extends KagziException {

  /** Called by the SDK. */
  public RequestRefusedException(String code, String message, @Nullable Throwable cause) {
    super(code, message, cause);
  }
}
