package dev.kagzi.server.callback;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The keys that sign the tokens of callbacks, the same on all servers. The first key signs the
 * tokens of new callbacks. A token is valid if any of the keys has signed it. Thread-safe.
 */
public final class CallbackKeys {
  private static final int KEYS_MAX = 2;
  private static final int LENGTH_MIN = 32;
  private static final int ID_BYTES = 4;
  private static final int MAC_BYTES = 16;
  private static final String ALGORITHM = "HmacSHA256";

  private final List<Key> keys;

  private record Key(String id, SecretKeySpec secret) {
    @Override
    public String toString() {
      return "(hidden)";
    }
  }

  private CallbackKeys(List<Key> keys) {
    this.keys = List.copyOf(keys);
  }

  public static CallbackKeys none() {
    return new CallbackKeys(List.of());
  }

  /** Returns a key made from any secret. */
  static CallbackKeys of(String secret) {
    return new CallbackKeys(List.of(key(secret)));
  }

  /**
   * Parses the value of the option {@code callback-keys}.
   *
   * @throws IllegalArgumentException if a key is too short or there are too many keys; the message
   *     does not contain the keys
   */
  public static CallbackKeys parse(String text) {
    if (text.isEmpty()) {
      return none();
    }
    List<String> secrets = Arrays.stream(text.split(",", -1)).map(String::strip).toList();
    if (secrets.size() > KEYS_MAX || secrets.stream().anyMatch(s -> s.length() < LENGTH_MIN)) {
      throw new IllegalArgumentException(
          "callback-keys: %d keys, the shortest with %d characters (expected: one key of at least %d characters, or two with a comma while it is rotated; `openssl rand -hex 32` makes one)"
              .formatted(
                  secrets.size(),
                  secrets.stream().mapToInt(String::length).min().orElse(0),
                  LENGTH_MIN));
    }
    List<Key> keys = new ArrayList<>();
    secrets.forEach(secret -> keys.add(key(secret)));
    return new CallbackKeys(keys);
  }

  // Derives the key instead of using the text itself: if the same text is also a key for another
  // purpose, signatures of that purpose must not be valid here.
  private static Key key(String secret) {
    byte[] derived =
        mac(
            new SecretKeySpec("kagzi callback".getBytes(StandardCharsets.UTF_8), ALGORITHM),
            secret.getBytes(StandardCharsets.UTF_8));
    SecretKeySpec spec = new SecretKeySpec(derived, ALGORITHM);
    byte[] id = mac(spec, "id".getBytes(StandardCharsets.UTF_8));
    return new Key(HexFormat.of().formatHex(id, 0, ID_BYTES), spec);
  }

  public boolean isEmpty() {
    return keys.isEmpty();
  }

  /**
   * Returns the id of the key that signs the tokens of new callbacks. A callback stores the id, so
   * that the same key is found after a rotation. The id does not reveal the key.
   */
  String signingId() {
    return keys.getFirst().id;
  }

  /** Signs with the key of this id; with the first one if there is none any more. */
  byte[] sign(String keyId, byte[] message) {
    Key key =
        keys.stream().filter(each -> each.id.equals(keyId)).findFirst().orElse(keys.getFirst());
    return sign(key, message);
  }

  /** Returns whether one of the keys has signed the message. Compares in constant time. */
  boolean isSigned(byte[] message, byte[] signature) {
    boolean found = false;
    for (Key key : keys) {
      found |= java.security.MessageDigest.isEqual(sign(key, message), signature);
    }
    return found;
  }

  private static byte[] sign(Key key, byte[] message) {
    return Arrays.copyOf(mac(key.secret, message), MAC_BYTES);
  }

  private static byte[] mac(SecretKeySpec key, byte[] message) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      return mac.doFinal(message);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof CallbackKeys that && keys.equals(that.keys);
  }

  @Override
  public int hashCode() {
    return keys.hashCode();
  }

  @Override
  public String toString() {
    return keys.size() + " keys (hidden)";
  }
}
