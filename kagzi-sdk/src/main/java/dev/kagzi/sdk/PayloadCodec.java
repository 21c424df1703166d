package dev.kagzi.sdk;

import java.lang.reflect.Type;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Turns inputs and results into bytes and back. Clients and workers of one workflow need codecs
 * that understand each other. Must be thread-safe.
 *
 * <p>Both methods report what they cannot do with a {@link PayloadException}. A result that cannot
 * be encoded fails its step; a payload that cannot be decoded does not fail the run: it waits for a
 * worker whose code can.
 */
public interface PayloadCodec {
  /** Encodes a value, which may be null; the type is the declared one. */
  Encoded encode(@Nullable Object value, Type type);

  /** Decodes a value of the declared type. No bytes at all mean null. */
  @Nullable Object decode(Encoded payload, Type type);

  /**
   * The same text for the same value: {@link StepBuilder#input}. What it is made of is stored in
   * the open.
   */
  default String fingerprint(@Nullable Object value, Type type) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      return HexFormat.of().formatHex(digest.digest(encode(value, type).data()));
    } catch (NoSuchAlgorithmException e) {
      throw new PayloadException("SHA-256: not there (expected: in every JDK)", e);
    }
  }

  /**
   * This codec with payloads that are changed on their way, in the order given: {@code new
   * JacksonCodec().then(new GzipTransform(), new AesGcmTransform("k1", key))}.
   */
  default PayloadCodec then(PayloadTransform... transforms) {
    return new CodecChain(this, List.of(transforms));
  }
}
