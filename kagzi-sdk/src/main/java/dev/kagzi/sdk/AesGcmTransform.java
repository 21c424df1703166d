package dev.kagzi.sdk;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Encrypts payloads with AES-GCM, so that the server stores only ciphertext.
 *
 * <p>Each payload carries the id of its key in its metadata, so keys can be rotated: one key
 * encrypts, all keys decrypt. Payloads become unreadable when their key is removed. Rotate the key
 * before it has encrypted 2^32 (4 billion) payloads, the limit for random nonces.
 *
 * <p>Compress before you encrypt, because encrypted data does not compress. Errors are not payloads
 * and are not encrypted; use an {@link ErrorSanitizer} to remove secrets from them.
 */
public final class AesGcmTransform implements PayloadTransform {
  private static final String KEY_ID = "kagzi-key-id";
  private static final String ALGORITHM = "AES/GCM/NoPadding";
  private static final int NONCE_BYTES = 12;
  private static final int TAG_BITS = 128;

  /** Limits the key id, because it is stored with each payload and in each fingerprint. */
  private static final int KEY_ID_LENGTH_MAX = 100;

  private final String keyId;
  private final Map<String, SecretKey> keys;
  private final SecureRandom random = new SecureRandom();

  /**
   * Creates a transform with one key.
   *
   * @param key 16, 24 or 32 bytes
   * @throws IllegalArgumentException if {@code keyId} is longer than 100 characters, or if the key
   *     has another length
   */
  public AesGcmTransform(String keyId, byte[] key) {
    this(keyId, Map.of(keyId, key));
  }

  /**
   * Creates a transform with several keys, for key rotation.
   *
   * @param keyId the id of the key that encrypts; one of {@code keys}
   * @param keys all keys that can decrypt, by id; each has 16, 24 or 32 bytes
   * @throws IllegalArgumentException if {@code keyId} is not in {@code keys} or is longer than 100
   *     characters, or if a key has another length
   */
  public AesGcmTransform(String keyId, Map<String, byte[]> keys) {
    this.keyId = Objects.requireNonNull(keyId, "keyId");
    Map<String, SecretKey> all = new HashMap<>();
    keys.forEach((id, key) -> all.put(id, secret(id, key)));
    this.keys = Map.copyOf(all);
    if (!all.containsKey(keyId)) {
      throw new IllegalArgumentException("keyId: " + keyId + " (expected: one of the keys)");
    }
    if (keyId.length() > KEY_ID_LENGTH_MAX) {
      throw new IllegalArgumentException(
          "keyId: %d characters (expected: at most %d)"
              .formatted(keyId.length(), KEY_ID_LENGTH_MAX));
    }
  }

  private static SecretKey secret(String id, byte[] key) {
    if (key.length != 16 && key.length != 24 && key.length != 32) {
      throw new IllegalArgumentException(
          "key %s: %d bytes (expected: 16, 24 or 32)".formatted(id, key.length));
    }
    return new SecretKeySpec(key, "AES");
  }

  @Override
  public Encoded apply(Encoded payload) {
    byte[] nonce = new byte[NONCE_BYTES];
    random.nextBytes(nonce);
    byte[] sealed = crypt(Cipher.ENCRYPT_MODE, keyId, nonce, payload.data(), 0);
    byte[] data = Arrays.copyOf(nonce, NONCE_BYTES + sealed.length);
    System.arraycopy(sealed, 0, data, NONCE_BYTES, sealed.length);
    Map<String, String> metadata = new HashMap<>(payload.metadata());
    metadata.put(KEY_ID, keyId);
    return new Encoded(data, metadata);
  }

  @Override
  public Encoded undo(Encoded payload) {
    String id = payload.metadata().get(KEY_ID);
    if (id == null) {
      return payload;
    }
    if (!keys.containsKey(id) || payload.data().length < NONCE_BYTES) {
      throw new PayloadException(
          "payload was encrypted with key %s (expected: one of %s)".formatted(id, keys.keySet()),
          null);
    }
    byte[] nonce = Arrays.copyOf(payload.data(), NONCE_BYTES);
    byte[] plain = crypt(Cipher.DECRYPT_MODE, id, nonce, payload.data(), NONCE_BYTES);
    Map<String, String> metadata = new HashMap<>(payload.metadata());
    metadata.remove(KEY_ID);
    return new Encoded(plain, metadata);
  }

  /**
   * Uses an HMAC: without the key, inputs cannot be guessed by comparing fingerprints. The result
   * begins with the key's id.
   */
  @Override
  public String fingerprint(String plain) {
    return fingerprintBy(keyId, plain);
  }

  @Override
  public String fingerprint(String plain, String stored) {
    String id = stored.substring(0, Math.max(0, stored.lastIndexOf(':')));
    return keys.containsKey(id) ? fingerprintBy(id, plain) : stored;
  }

  private String fingerprintBy(String id, String plain) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(key(id));
      byte[] code = mac.doFinal(plain.getBytes(StandardCharsets.UTF_8));
      return id + ":" + HexFormat.of().formatHex(code);
    } catch (GeneralSecurityException e) {
      throw new PayloadException("fingerprint cannot be made: " + e.getMessage(), e);
    }
  }

  private SecretKey key(String id) {
    return Objects.requireNonNull(keys.get(id), id);
  }

  private byte[] crypt(int mode, String id, byte[] nonce, byte[] data, int from) {
    try {
      Cipher cipher = Cipher.getInstance(ALGORITHM);
      cipher.init(mode, key(id), new GCMParameterSpec(TAG_BITS, nonce));
      return cipher.doFinal(data, from, data.length - from);
    } catch (GeneralSecurityException e) {
      throw new PayloadException(
          "payload cannot be %s with key %s: %s"
              .formatted(
                  mode == Cipher.ENCRYPT_MODE ? "encrypted" : "decrypted", id, e.getMessage()),
          e);
    }
  }
}
