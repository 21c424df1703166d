package dev.kagzi.sdk;

import org.jspecify.annotations.Nullable;

/** No server answered in time. Whether the call took effect is unknown. */
public final class ServerUnavailableException extends KagziException {
  public ServerUnavailableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  @Override
  public String code() {
    return "server-unavailable";
  }
}
