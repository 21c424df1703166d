package dev.kagzi.sdk;

import java.lang.reflect.Type;
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
   * Decodes the input of a run that has not begun, so that nothing depends on it yet: the place to
   * refuse what {@link #decode} has to accept from a record of former code, such as a field that is
   * missing. Decodes as {@link #decode} does unless it is overridden.
   */
  default @Nullable Object decodeInput(Encoded payload, Type type) {
    return decode(payload, type);
  }

  /**
   * The same text for the same value, in every process: {@link StepBuilder#input}. What it is made
   * of is stored in the open. Override it if the same value may give other bytes another time.
   */
  default String fingerprint(@Nullable Object value, Type type) {
    return Fingerprint.of(encode(value, type).data());
  }

  /**
   * Whether the value is the one that a fingerprint was made of, also if new ones are made in
   * another way by now.
   */
  default boolean hasFingerprint(@Nullable Object value, Type type, String fingerprint) {
    return fingerprint(value, type).equals(fingerprint);
  }

  /**
   * This codec with payloads that are changed on their way, in the order given: {@code new
   * JacksonCodec().then(new GzipTransform(), new AesGcmTransform("k1", key))}.
   */
  default PayloadCodec then(PayloadTransform... transforms) {
    return new CodecChain(this, List.of(transforms));
  }
}
