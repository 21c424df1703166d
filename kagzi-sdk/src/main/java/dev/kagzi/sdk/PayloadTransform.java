package dev.kagzi.sdk;

/**
 * Changes encoded payloads before they are sent and restores them after they are received, for
 * example by compression or encryption. Implementations must be thread-safe.
 */
public interface PayloadTransform {
  /** Changes a payload. Put what {@link #undo} needs into its metadata. */
  Encoded apply(Encoded payload);

  /**
   * Reverses {@link #apply}. If {@code apply} did not change the payload, returns the same payload.
   */
  Encoded undo(Encoded payload);

  /**
   * Changes the fingerprint of a step's input so that it reveals nothing about the input. Returns
   * it unchanged by default: a transform that encrypts must override it, because short inputs can
   * be guessed from a plain hash. Must return the same result for the same fingerprint.
   */
  default String fingerprint(String plain) {
    return plain;
  }

  /**
   * Like {@link #fingerprint(String)}, but with the key that produced the stored fingerprint, so
   * that the two can be compared. Override it if keys are rotated.
   *
   * @param stored the stored fingerprint. If its key is no longer available, return it unchanged:
   *     the input then counts as unchanged
   */
  default String fingerprint(String plain, String stored) {
    return fingerprint(plain);
  }
}
