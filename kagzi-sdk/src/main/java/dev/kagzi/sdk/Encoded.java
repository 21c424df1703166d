package dev.kagzi.sdk;

import java.util.Map;
import java.util.Objects;

/**
 * A value as bytes, with what is needed to read them again. The server stores both and looks into
 * neither.
 */
public final class Encoded {
  private final byte[] data;
  private final Map<String, String> metadata;

  /**
   * Takes the array as it is: the caller no longer changes it.
   *
   * @param metadata how to read the bytes; empty means JSON
   */
  public Encoded(byte[] data, Map<String, String> metadata) {
    this.data = Objects.requireNonNull(data, "data");
    this.metadata = Map.copyOf(metadata);
  }

  /** The bytes themselves, not a copy: do not change them. */
  public byte[] data() {
    return data;
  }

  public Map<String, String> metadata() {
    return metadata;
  }
}
