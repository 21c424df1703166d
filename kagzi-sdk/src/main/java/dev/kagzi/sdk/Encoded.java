package dev.kagzi.sdk;

import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.Workflow;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

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

  /** The output of a run, to be read by the codec; empty if the message has none. */
  static Optional<Encoded> outputOf(Workflow run, PayloadCodec codec) {
    Payload output = run.getOutput();
    // A list leaves out the bytes of a large output; no bytes are never a value.
    return run.hasOutput() && !output.getData().isEmpty()
        ? Optional.of(new Encoded(output.getData().toByteArray(), output.getMetadataMap(), codec))
        : Optional.empty();
  }

  /** The bytes themselves, not a copy: do not change them. */
  public byte[] data() {
    return data;
  }

  public Map<String, String> metadata() {
    return metadata;
  }

  /** Whether bytes and metadata are the same. */
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Encoded that
        && Arrays.equals(data, that.data)
        && metadata.equals(that.metadata);
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(data) + metadata.hashCode();
  }

  // The codec makes the value for exactly this type; null stands for itself.
  @SuppressWarnings({"unchecked", "NullAway", "TypeParameterUnusedInFormals"})
  <T> T decode(Type type) {
    return (T) codec.decode(this, type);
  }
}
