package dev.kagzi.sdk.internal.wire;

import com.google.protobuf.UnsafeByteOperations;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.sdk.Encoded;
import dev.kagzi.sdk.PayloadCodec;
import dev.kagzi.sdk.PayloadException;
import java.lang.reflect.Type;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Values to payload messages and back, by the application's codec. Thread-safe. */
public final class Payloads {
  private final PayloadCodec codec;
  private final Set<Type> readable = ConcurrentHashMap.newKeySet();

  public Payloads(PayloadCodec codec) {
    this.codec = codec;
  }

  public Payload encode(@Nullable Object value, Type type) {
    Encoded encoded;
    try {
      encoded = codec.encode(value, type);
    } catch (RuntimeException | StackOverflowError e) {
      throw failed("encode", type, e);
    }
    checkReadable(value, encoded, type);
    // Encoded promises that its array does not change, so it is not copied.
    Payload.Builder payload =
        Payload.newBuilder().setData(UnsafeByteOperations.unsafeWrap(encoded.data()));
    if (!encoded.metadata().isEmpty()) {
      payload.putAllMetadata(encoded.metadata());
    }
    return payload.build();
  }

  /**
   * What can be written but not read back would only be noticed when a run goes on after a sleep or
   * a crash, and then for ever. Once for each type is enough.
   */
  private void checkReadable(@Nullable Object value, Encoded encoded, Type type) {
    if (value == null || type == Void.class || !readable.add(type)) {
      return;
    }
    try {
      codec.decode(encoded, type);
    } catch (RuntimeException | StackOverflowError e) {
      readable.remove(type);
      throw new PayloadException(
          "value of type %s can be written but not read back: %s (expected: a type that the codec can read,"
                  .formatted(type.getTypeName(), failed("decode", type, e).getMessage())
              + " such as a record)",
          e);
    }
  }

  /** The same for the same value. */
  public String fingerprint(@Nullable Object value, Type type) {
    try {
      return codec.fingerprint(value, type);
    } catch (RuntimeException | StackOverflowError e) {
      throw failed("encode", type, e);
    }
  }

  public @Nullable Object decode(Payload payload, Type type) {
    try {
      return codec.decode(
          new Encoded(payload.getData().toByteArray(), payload.getMetadataMap()), type);
    } catch (RuntimeException | StackOverflowError e) {
      throw failed("decode", type, e);
    }
  }

  // A codec is user code: whatever it throws means that it could not.
  private static PayloadException failed(String what, Type type, Throwable thrown) {
    return thrown instanceof PayloadException known
        ? known
        : new PayloadException(
            "the codec failed to %s a %s: %s".formatted(what, type.getTypeName(), thrown), thrown);
  }
}
