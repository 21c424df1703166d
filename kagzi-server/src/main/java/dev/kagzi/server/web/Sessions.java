package dev.kagzi.server.web;

import dev.kagzi.server.listen.AccessToken;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Optional;
import java.util.UUID;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Sessions of browsers: a cookie has an expiry and a random id, signed with a key that is derived
 * from the server's token. So every server with the same token accepts the cookie, a new token ends
 * all sessions, and the token cannot be computed from the cookie. {@link Browsers} checks whether a
 * logout has ended a session.
 *
 * <p>A browser that has not logged in, for example because the server has no token, also gets a
 * session. This session permits nothing, and only identifies the browser for form tokens.
 * Thread-safe.
 */
final class Sessions {
  private static final String PURPOSE = "kagzi dashboard session 1";
  private static final String ALGORITHM = "HmacSHA256";
  private static final int ID_BYTES = 16;
  private static final int CONTENT_BYTES = 1 + Long.BYTES + ID_BYTES;
  private static final Base64.Encoder ENCODER = Base64.getUrlEncoder().withoutPadding();

  private final SecretKeySpec key;
  private final Duration timeout;
  private final InstantSource clock;
  private final SecureRandom random = new SecureRandom();

  /**
   * A session that has not expired.
   *
   * @param login the id under which a logout records that the session has ended
   * @param isLoggedIn whether its browser has sent the token; if not, it only identifies a form
   */
  record Session(String id, UUID login, Instant expiresAt, boolean isLoggedIn) {}

  Sessions(@Nullable AccessToken token, Duration timeout, InstantSource clock) {
    byte[] bytes =
        token == null ? PURPOSE.getBytes(StandardCharsets.UTF_8) : token.deriveKey(PURPOSE);
    this.key = new SecretKeySpec(bytes, ALGORITHM);
    this.timeout = timeout;
    this.clock = clock;
  }

  /**
   * Returns the cookie's name. Servers with other tokens on the same host have other names. A
   * session that has not logged in has a name of its own, so that it never replaces a login that
   * the browser did not send.
   */
  String cookieName(boolean isLoggedIn) {
    return (isLoggedIn ? "kagzi-session-" : "kagzi-anonymous-")
        + HexFormat.of().formatHex(sign("name", new byte[0]), 0, 4);
  }

  /** Returns the cookie of a new session. */
  String create(boolean isLoggedIn) {
    byte[] id = new byte[ID_BYTES];
    random.nextBytes(id);
    long expiry = clock.instant().plus(timeout).getEpochSecond();
    byte[] content =
        ByteBuffer.allocate(CONTENT_BYTES)
            .put((byte) (isLoggedIn ? 1 : 0))
            .putLong(expiry)
            .put(id)
            .array();
    return encode(content) + "." + encode(sign("session", content));
  }

  long timeoutSeconds() {
    return timeout.toSeconds();
  }

  /** Returns the session of a cookie; empty if it is forged, of another token, or expired. */
  Optional<Session> find(@Nullable String cookie) {
    int dot = cookie == null ? -1 : cookie.indexOf('.');
    if (cookie == null || dot < 0) {
      return Optional.empty();
    }
    try {
      byte[] content = Base64.getUrlDecoder().decode(cookie.substring(0, dot));
      byte[] signature = Base64.getUrlDecoder().decode(cookie.substring(dot + 1));
      if (content.length != CONTENT_BYTES
          || !MessageDigest.isEqual(signature, sign("session", content))) {
        return Optional.empty();
      }
      ByteBuffer in = ByteBuffer.wrap(content);
      boolean isLoggedIn = in.get() == 1;
      Instant expiresAt = Instant.ofEpochSecond(in.getLong());
      UUID login = new UUID(in.getLong(), in.getLong());
      Session session = new Session(encode(content), login, expiresAt, isLoggedIn);
      return hasExpired(session) ? Optional.empty() : Optional.of(session);
    } catch (IllegalArgumentException notBase64) {
      return Optional.empty();
    }
  }

  boolean hasExpired(Session session) {
    return !session.expiresAt().isAfter(clock.instant());
  }

  /** Returns what the forms of a session must send. Other pages cannot read or compute it. */
  String formToken(Session session) {
    return encode(sign("form", session.id().getBytes(StandardCharsets.UTF_8)));
  }

  boolean acceptsForm(Session session, @Nullable String formToken) {
    return formToken != null
        && MessageDigest.isEqual(
            formToken.getBytes(StandardCharsets.UTF_8),
            formToken(session).getBytes(StandardCharsets.UTF_8));
  }

  private byte[] sign(String kind, byte[] content) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      mac.update(kind.getBytes(StandardCharsets.UTF_8));
      mac.update((byte) 0);
      return mac.doFinal(content);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String encode(byte[] bytes) {
    return ENCODER.encodeToString(bytes);
  }
}
