package dev.kagzi.server.callback;

import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.Refusal;
import java.net.URI;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes the URLs of callbacks. The step that creates a callback stores the public URL and the id of
 * the signing key, so that the callback's URL stays the same if the options change later.
 * Thread-safe.
 */
public final class CallbackUrls {
  /** The first part of the path, before the token. */
  public static final String PATH = "/callbacks/";

  private static final String PUBLIC_URL = "kagzi.public-url";
  private static final String KEY = "kagzi.callback-key";

  private final CallbackKeys keys;
  private final CallbackTokens tokens;
  private final @Nullable URI publicUrl;

  /**
   * Creates it.
   *
   * @param publicUrl where outside systems reach the servers; null: no callback can be made
   */
  public CallbackUrls(CallbackKeys keys, @Nullable URI publicUrl) {
    this.keys = keys;
    this.tokens = new CallbackTokens(keys);
    this.publicUrl = publicUrl;
  }

  /**
   * Returns what the step of a new callback stores: the public URL and the id of the signing key.
   *
   * @throws Refusal if the options for callbacks are not set
   */
  public Payload stored() {
    if (publicUrl == null) {
      throw off(
          "public-url: none (expected: the URL by which outside systems reach the servers, such as"
              + " https://kagzi.example.com)");
    }
    if (keys.isEmpty()) {
      throw off(
          "callback-keys: none (expected: a secret of at least 32 characters, the same on all"
              + " servers, such as KAGZI_CALLBACK_KEYS=$(openssl rand -hex 32))");
    }
    String base = publicUrl.toString();
    return new Payload(
        new byte[0],
        Map.of(
            PUBLIC_URL,
            base.endsWith("/") ? base.substring(0, base.length() - 1) : base,
            KEY,
            keys.signingId()));
  }

  private static Refusal off(String why) {
    return Refusal.of(
        Refusal.Code.CALLBACKS_OFF, "server", "", "callbacks are off on this server: " + why);
  }

  /**
   * Returns the URL of a callback; empty if this server has no keys.
   *
   * @param stored what its step has stored
   */
  public String url(CallbackId id, Payload stored) {
    if (keys.isEmpty()) {
      return "";
    }
    Map<String, String> parts = stored.metadata();
    return parts.getOrDefault(PUBLIC_URL, "")
        + PATH
        + tokens.token(id, parts.getOrDefault(KEY, ""));
  }
}
