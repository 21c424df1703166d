package dev.kagzi.server.config;

import org.jspecify.annotations.Nullable;

/** An invalid setting. The message is one line. */
public final class SettingsException extends RuntimeException {
  public SettingsException(String message) {
    this(message, null);
  }

  public SettingsException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
