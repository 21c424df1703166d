package dev.kagzi.server.callback;

import dev.kagzi.server.listen.ListenConfig;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of callbacks.
 *
 * @param isLocal whether URLs contain this server's own port if no public URL is set; for
 *     development
 * @param port the port that serves callbacks and nothing else; {@link ListenConfig#NONE}: the HTTP
 *     port serves them
 * @param proxies the proxies whose forwarded addresses are trusted
 */
public record CallbackConfig(CallbackKeys keys, boolean isLocal, int port, TrustedProxies proxies) {

  /**
   * Parses the values of {@code callback-keys}, {@code callback-port} and {@code trusted-proxies}.
   */
  public static CallbackConfig read(String keys, int port, String proxies) {
    return new CallbackConfig(CallbackKeys.parse(keys), false, port, TrustedProxies.parse(proxies));
  }

  /**
   * Returns a configuration that works without further options, for a server on this machine: if no
   * key is set, one is derived from the secret, and if no public URL is set, URLs contain the
   * server's own port.
   */
  public CallbackConfig local(String secret) {
    return new CallbackConfig(keys.isEmpty() ? CallbackKeys.of(secret) : keys, true, port, proxies);
  }

  /**
   * Returns the URLs of a server that has opened its ports.
   *
   * @param publicUrl where outside systems reach the servers; null if it is not set
   * @param ownUrl the URL of the port that serves callbacks; null if there is none
   */
  public CallbackUrls urls(@Nullable URI publicUrl, @Nullable URI ownUrl) {
    return new CallbackUrls(keys, publicUrl == null && isLocal ? ownUrl : publicUrl);
  }
}
