package dev.kagzi.sdk;

import org.jspecify.annotations.Nullable;

/** The server understood the request and refuses it; sending it again does not help. */
public final class RequestRefusedException extends KagziException {
  private final String code;

  public RequestRefusedException(String code, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  /** Why, as one word of the protocol: {@code INVALID_ARGUMENT}, {@code UNIMPLEMENTED}, ... */
  @Override
  public String code() {
    return code;
  }
}
