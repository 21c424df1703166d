package dev.kagzi.server.config;

import org.jspecify.annotations.Nullable;

/** A setting that cannot be meant. The message is one line for a person. */
public final class SettingsException extends RuntimeException {
  public SettingsException(String message) {
    this(message, null);
  }

  public SettingsException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
