package dev.kagzi.sdk;

import java.lang.reflect.Type;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Applies transforms in order after encoding, and in reverse order before decoding. */
final class CodecChain implements PayloadCodec {
  private final PayloadCodec codec;
  private final List<PayloadTransform> transforms;

  CodecChain(PayloadCodec codec, List<? extends PayloadTransform> transforms) {
    this.codec = codec;
    this.transforms = List.copyOf(transforms);
  }

  @Override
  public Encoded encode(@Nullable Object value, Type type) {
    Encoded payload = codec.encode(value, type);
    for (PayloadTransform transform : transforms) {
      payload = transform.apply(payload);
    }
    return payload;
  }

  @Override
  public @Nullable Object decode(Encoded encoded, Type type) {
    return codec.decode(undo(encoded), type);
  }

  @Override
  public @Nullable Object decodeInput(Encoded encoded, Type type) {
    return codec.decodeInput(undo(encoded), type);
  }

  private Encoded undo(Encoded encoded) {
    Encoded payload = encoded;
    for (PayloadTransform transform : transforms.reversed()) {
      payload = transform.undo(payload);
    }
    return payload;
  }

  @Override
  public String fingerprint(@Nullable Object value, Type type) {
    String fingerprint = codec.fingerprint(value, type);
    for (PayloadTransform transform : transforms) {
      fingerprint = transform.fingerprint(fingerprint);
    }
    return fingerprint;
  }

  @Override
  public boolean hasFingerprint(@Nullable Object value, Type type, String stored) {
    String fingerprint = codec.fingerprint(value, type);
    for (PayloadTransform transform : transforms) {
      fingerprint = transform.fingerprint(fingerprint, stored);
    }
    return fingerprint.equals(stored);
  }
}
