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
 * An encoded value: its bytes and the metadata that is needed to decode them. The server stores
 * both and interprets neither.
 */
public final class Encoded {
  private final byte[] data;
  private final Map<String, String> metadata;
  private final PayloadCodec codec;

  /**
   * Creates a payload. The array is not copied, so the caller must not change it afterwards.
   *
   * @param metadata how to decode the bytes; empty means JSON
   */
  public Encoded(byte[] data, Map<String, String> metadata) {
    this(data, metadata, JacksonCodec.DEFAULT);
  }

  Encoded(byte[] data, Map<String, String> metadata, PayloadCodec codec) {
    this.data = Objects.requireNonNull(data, "data");
    this.metadata = Map.copyOf(metadata);
    this.codec = codec;
  }

  /** Returns the output of a run; empty if the message contains none. */
  static Optional<Encoded> outputOf(Workflow run, PayloadCodec codec) {
    Payload output = run.getOutput();
    // Lists omit the bytes of large outputs. A payload without bytes decodes to null, so both cases
    // count as no output.
    return run.hasOutput() && !output.getData().isEmpty()
        ? Optional.of(new Encoded(output.getData().toByteArray(), output.getMetadataMap(), codec))
        : Optional.empty();
  }

  /** Returns the bytes. The array is not a copy and must not be changed. */
  public byte[] data() {
    return data;
  }

  /** Returns the metadata, for example content type or encryption key id. Immutable. */
  public Map<String, String> metadata() {
    return metadata;
  }

  /** Compares bytes and metadata. */
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

  // The codec returns a value of exactly this type; a null value stays null.
  @SuppressWarnings({"unchecked", "NullAway", "TypeParameterUnusedInFormals"})
  <T> T decode(Type type) {
    return (T) codec.decode(this, type);
  }
}
