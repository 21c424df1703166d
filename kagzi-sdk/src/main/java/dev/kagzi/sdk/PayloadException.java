package dev.kagzi.sdk;

import org.jspecify.annotations.Nullable;

/** A value cannot be encoded, or a payload cannot be decoded. Thrown by {@link PayloadCodec}s. */
public final class PayloadException extends KagziException {
  /** A payload cannot be decoded. */
  public PayloadException(String message, @Nullable Throwable cause) {
    this(ClientCode.PAYLOAD_UNREADABLE, message, cause);
  }

  private PayloadException(ClientCode code, String message, @Nullable Throwable cause) {
    super(code, message, cause);
  }

  /** A value cannot be encoded. */
  public static PayloadException unwritable(String message, @Nullable Throwable cause) {
    return new PayloadException(ClientCode.PAYLOAD_UNWRITABLE, message, cause);
  }
}
