package dev.kagzi.spring;

import dev.kagzi.sdk.Kagzi;

/**
 * Connects the application's client. The default uses {@link KagziProperties}; a bean of this type
 * replaces it, for example to connect to a server inside the application.
 */
@FunctionalInterface
public interface KagziConnector {
  /**
   * Returns a client.
   *
   * @param builder has the options that beans contribute, and neither address nor namespace
   */
  Kagzi connect(Kagzi.Builder builder);
}
