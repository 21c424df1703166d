package dev.kagzi.sdk;

import org.jspecify.annotations.Nullable;

/** A value cannot be encoded, or a payload cannot be decoded. Thrown by {@link PayloadCodec}s. */
public final class PayloadException extends KagziException {
  public PayloadException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  @Override
  public String code() {
    return "payload";
  }
}
