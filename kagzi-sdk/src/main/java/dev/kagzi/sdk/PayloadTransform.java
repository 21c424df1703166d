package dev.kagzi.sdk;

/**
 * Changes encoded payloads before they are sent and restores them after they are received, for
 * example by compression or encryption. Implementations must be thread-safe.
 */
public interface PayloadTransform {
  /** Changes a payload. Put what {@link #undo} needs into its metadata. */
  Encoded apply(Encoded payload);

  /** Reverses {@link #apply}. Must return a payload that {@code apply} did not change as it is. */
  Encoded undo(Encoded payload);

  /**
   * Changes the fingerprint of a step's input so that it reveals nothing about the input. Must
   * return the same result for the same fingerprint.
   */
  default String fingerprint(String plain) {
    return plain;
  }

  /**
   * Changes a fingerprint in the same way as a stored one, for comparison. Override it if keys are
   * rotated.
   *
   * @param before the stored fingerprint; return it unchanged if its key is no longer available
   */
  default String fingerprint(String plain, String before) {
    return fingerprint(plain);
  }
}
