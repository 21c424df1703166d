package dev.kagzi.server.listen;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Locale;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/** The token that callers must send. Stores only its digest and compares in constant time. */
public final class AccessToken {
  private static final String SCHEME = "bearer ";

  private final byte[] digest;

  private AccessToken(String token) {
    this.digest = digest(token);
  }

  /** Accepts visible ASCII characters only, because the token travels in a header. */
  public static AccessToken of(String token) {
    return of(token, "token");
  }

  private static AccessToken of(String token, String what) {
    if (token.isEmpty() || !token.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      throw new IllegalArgumentException(
          what + ": not a token (expected: visible characters of ASCII, without spaces)");
    }
    return new AccessToken(token);
  }

  public static AccessToken read(Path file) {
    try {
      String line = Files.readString(file).lines().findFirst().orElse("").strip();
      return of(line, "token-file: " + file);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "token-file: " + file + " (expected: a file that can be read)", e);
    }
  }

  public boolean accepts(@Nullable String authorization) {
    String header = authorization == null ? "" : authorization;
    boolean isBearer = header.toLowerCase(Locale.ROOT).startsWith(SCHEME);
    // A token is never empty. Comparing digests hides even the token's length from timing attacks.
    String shown = isBearer ? header.substring(SCHEME.length()).strip() : "";
    return MessageDigest.isEqual(digest, digest(shown));
  }

  /** Returns whether this is the token itself, as a person enters it. */
  public boolean isToken(String entered) {
    return MessageDigest.isEqual(digest, digest(entered));
  }

  /**
   * Derives a key by HKDF (RFC 5869, SHA-256) that every server with this token derives too. Keys
   * of different purposes are independent of each other, and the token does not follow from them.
   */
  public byte[] deriveKey(String purpose) {
    byte[] extracted = hmac("kagzi".getBytes(StandardCharsets.UTF_8), digest);
    byte[] info = (purpose + "\u0001").getBytes(StandardCharsets.UTF_8);
    return hmac(extracted, info);
  }

  private static byte[] hmac(byte[] key, byte[] message) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      return mac.doFinal(message);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static byte[] digest(String token) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public String toString() {
    return "(hidden)";
  }
}
