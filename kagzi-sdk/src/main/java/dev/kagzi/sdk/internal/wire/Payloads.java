package dev.kagzi.sdk.internal.wire;

import com.google.protobuf.UnsafeByteOperations;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.sdk.Encoded;
import dev.kagzi.sdk.PayloadCodec;
import dev.kagzi.sdk.PayloadException;
import java.lang.reflect.Type;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Converts values to payload messages and back with the application's codec. Thread-safe. */
public final class Payloads {
  private final PayloadCodec codec;
  private final Set<Type> readable = ConcurrentHashMap.newKeySet();
  private final Set<Type> readableInputs = ConcurrentHashMap.newKeySet();

  public Payloads(PayloadCodec codec) {
    this.codec = codec;
  }

  public PayloadCodec codec() {
    return codec;
  }

  public Payload encode(@Nullable Object value, Type type) {
    Encoded encoded = encoded(value, type);
    checkReadable(value, encoded, type, readable, codec::decode);
    return payload(encoded);
  }

  /**
   * Encodes the input of a run. A type that {@link #decodeInput} cannot read is rejected here, so
   * that the caller gets an exception instead of a blocked run.
   */
  public Payload encodeInput(@Nullable Object value, Type type) {
    Encoded encoded = encoded(value, type);
    checkReadable(value, encoded, type, readableInputs, codec::decodeInput);
    return payload(encoded);
  }

  /**
   * A value as it is stored and as a replay decodes it.
   *
   * @param value decoded from the payload: not the object that was encoded, and possibly of another
   *     class
   */
  public record Recorded(Payload payload, @Nullable Object value) {}

  /**
   * Encodes a value and decodes it again, so that workflow code receives the same value as in a
   * replay. A value that cannot be decoded is rejected here, while its step can still fail.
   */
  public Recorded record(@Nullable Object value, Type type) {
    Encoded encoded = encoded(value, type);
    Payload payload = payload(encoded);
    try {
      // Decodes a copy of the bytes: a codec may return them, and code may change the returned
      // value.
      return new Recorded(payload, decode(payload, type));
    } catch (PayloadException e) {
      throw notReadBack(type, e);
    }
  }

  /** Encodes a value without a declared type, as its own class. */
  public Payload encodeAny(@Nullable Object value) {
    return payload(encoded(value, typeOf(value)));
  }

  private static Type typeOf(@Nullable Object value) {
    return value == null ? Void.class : value.getClass();
  }

  private Encoded encoded(@Nullable Object value, Type type) {
    try {
      return codec.encode(value, type);
    } catch (RuntimeException | StackOverflowError e) {
      throw unwritable(type, e);
    }
  }

  private static Payload payload(Encoded encoded) {
    // The array of an Encoded never changes, so it is not copied.
    Payload.Builder payload =
        Payload.newBuilder().setData(UnsafeByteOperations.unsafeWrap(encoded.data()));
    if (!encoded.metadata().isEmpty()) {
      payload.putAllMetadata(encoded.metadata());
    }
    return payload.build();
  }

  /**
   * Checks that the first value of each type can be decoded again. Otherwise the code that reads it
   * later would fail, and its run would be blocked permanently.
   */
  private static void checkReadable(
      @Nullable Object value,
      Encoded encoded,
      Type type,
      Set<Type> checked,
      BiFunction<Encoded, Type, @Nullable Object> decode) {
    if (value == null || type == Void.class || !checked.add(type)) {
      return;
    }
    try {
      Object unused = decode.apply(encoded, type);
    } catch (RuntimeException | StackOverflowError e) {
      checked.remove(type);
      throw notReadBack(type, unreadable(type, e));
    }
  }

  private static PayloadException notReadBack(Type type, PayloadException why) {
    return PayloadException.unwritable(
        "value of type %s can be written but not read back: %s (expected: a type that the codec can read,"
                .formatted(type.getTypeName(), why.getMessage())
            + " such as a record)",
        why);
  }

  public String fingerprint(@Nullable Object value) {
    try {
      return codec.fingerprint(value, typeOf(value));
    } catch (RuntimeException | StackOverflowError e) {
      throw unwritable(typeOf(value), e);
    }
  }

  public boolean hasFingerprint(@Nullable Object value, String fingerprint) {
    try {
      return codec.hasFingerprint(value, typeOf(value), fingerprint);
    } catch (RuntimeException | StackOverflowError e) {
      throw unwritable(typeOf(value), e);
    }
  }

  public @Nullable Object decode(Payload payload, Type type) {
    try {
      return codec.decode(encoded(payload), type);
    } catch (RuntimeException | StackOverflowError e) {
      throw unreadable(type, e);
    }
  }

  public @Nullable Object decodeInput(Payload payload, Type type) {
    try {
      return codec.decodeInput(encoded(payload), type);
    } catch (RuntimeException | StackOverflowError e) {
      throw unreadable(type, e);
    }
  }

  private static Encoded encoded(Payload payload) {
    return new Encoded(payload.getData().toByteArray(), payload.getMetadataMap());
  }

  // A codec is user code and may throw any exception.
  private static PayloadException unreadable(Type type, Throwable thrown) {
    return thrown instanceof PayloadException known
        ? known
        : new PayloadException(
            "the codec failed to decode a %s: %s".formatted(type.getTypeName(), thrown), thrown);
  }

  private static PayloadException unwritable(Type type, Throwable thrown) {
    String message = thrown.getMessage();
    return thrown instanceof PayloadException && message != null
        ? PayloadException.unwritable(message, thrown.getCause())
        : PayloadException.unwritable(
            "the codec failed to encode a %s: %s".formatted(type.getTypeName(), thrown), thrown);
  }
}
