package dev.kagzi.engine.value;

import java.util.Arrays;
import java.util.Map;

/** User data with its metadata. Both are stored and returned unchanged. */
@SuppressWarnings("ArrayRecordComponent") // Compared by content below, and never written to.
public record Payload(byte[] data, Map<String, String> metadata) {
  public static final Payload EMPTY = new Payload(new byte[0], Map.of());

  /** Takes ownership of the array: the caller must not change it afterwards. */
  public Payload {
    metadata = Map.copyOf(metadata);
  }

  public boolean isEmpty() {
    return data.length == 0 && metadata.isEmpty();
  }

  public int bytes() {
    int sum = data.length;
    for (Map.Entry<String, String> entry : metadata.entrySet()) {
      sum += entry.getKey().length() + entry.getValue().length();
    }
    return sum;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Payload that
        && Arrays.equals(data, that.data)
        && metadata.equals(that.metadata);
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(data) + metadata.hashCode();
  }

  @Override
  public String toString() {
    return "Payload[" + data.length + " bytes]";
  }
}
