package dev.kagzi.sdk;

import org.jspecify.annotations.Nullable;

/** Thrown by a {@link PayloadCodec} that cannot encode a value or decode a payload. */
public final class PayloadException extends KagziException {
  /** Creates an exception for a payload that cannot be decoded. */
  public PayloadException(String message, @Nullable Throwable cause) {
    this(ClientCode.PAYLOAD_UNREADABLE, message, cause);
  }

  private PayloadException(ClientCode code, String message, @Nullable Throwable cause) {
    super(code, message, cause);
  }

  /** Returns an exception for a value that cannot be encoded. */
  public static PayloadException unwritable(String message, @Nullable Throwable cause) {
    return new PayloadException(ClientCode.PAYLOAD_UNWRITABLE, message, cause);
  }
}
