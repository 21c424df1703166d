package dev.kagzi.sdk;

import java.lang.reflect.Type;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Encodes inputs, results, signals, published values and step progress as bytes, and decodes them.
 * Clients and workers of the same workflow need compatible codecs. Implementations must be
 * thread-safe.
 *
 * <p>Encode and decode errors must be thrown as {@link PayloadException}. A result that cannot be
 * encoded, or read back right after that, fails its step. If a worker cannot decode a run's input
 * or a recorded result, the run does not fail: it is blocked until a worker can.
 */
public interface PayloadCodec {
  /**
   * Encodes a value.
   *
   * @param value may be null
   * @param type the declared type, which may be a supertype of the value's class
   */
  Encoded encode(@Nullable Object value, Type type);

  /** Decodes a value of the declared type. A payload without bytes is null. */
  @Nullable Object decode(Encoded payload, Type type);

  /**
   * Decodes the input of a run that has no recorded step. A client also calls it with the first
   * input of each type that it starts runs with, to reject types that workers cannot decode.
   * Override it to check new inputs more strictly than {@link #decode}, which must still read
   * values that older versions of the code recorded. By default, both do the same.
   */
  default @Nullable Object decodeInput(Encoded payload, Type type) {
    return decode(payload, type);
  }

  /**
   * Returns a fingerprint that is equal for equal values in every process: {@link
   * StepBuilder#input}. The server stores it unencrypted. Override it if the same value may be
   * encoded to different bytes.
   */
  default String fingerprint(@Nullable Object value, Type type) {
    return Fingerprint.of(encode(value, type).data());
  }

  /**
   * Returns whether a stored fingerprint matches this value. Override it if the way to compute
   * fingerprints has changed and stored ones must still match.
   */
  default boolean hasFingerprint(@Nullable Object value, Type type, String fingerprint) {
    return fingerprint(value, type).equals(fingerprint);
  }

  /**
   * Returns a codec that applies the transforms, in order, to payloads that this codec encodes:
   * {@code new JacksonCodec().then(new GzipTransform(), new AesGcmTransform("k1", key))}.
   */
  default PayloadCodec then(PayloadTransform... transforms) {
    return new CodecChain(this, List.of(transforms));
  }
}
