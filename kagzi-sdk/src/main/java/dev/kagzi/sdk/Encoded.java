package dev.kagzi.sdk;

import java.lang.reflect.Type;
import java.util.Map;
import java.util.Objects;

/**
 * A value as bytes, with what is needed to read them again. The server stores both and looks into
 * neither.
 */
public final class Encoded {
  private final byte[] data;
  private final Map<String, String> metadata;
  private final PayloadCodec codec;

  /**
   * Takes the array as it is: the caller no longer changes it.
   *
   * @param metadata how to read the bytes; empty means JSON
   */
  public Encoded(byte[] data, Map<String, String> metadata) {
    this(data, metadata, JacksonCodec.DEFAULT);
  }

  /**
   * @param codec of the application, where the value is handed to it without being read
   */
  Encoded(byte[] data, Map<String, String> metadata, PayloadCodec codec) {
    this.data = Objects.requireNonNull(data, "data");
    this.metadata = Map.copyOf(metadata);
    this.codec = codec;
  }

  /** The bytes themselves, not a copy: do not change them. */
  public byte[] data() {
    return data;
  }

  public Map<String, String> metadata() {
    return metadata;
  }

  // The codec makes the value for exactly this type; null stands for itself.
  @SuppressWarnings({"unchecked", "NullAway", "TypeParameterUnusedInFormals"})
  <T> T decode(Type type) {
    return (T) codec.decode(this, type);
  }
}
