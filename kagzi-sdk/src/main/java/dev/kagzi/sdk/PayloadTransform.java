package dev.kagzi.sdk;

/**
 * Changes payloads on their way to the server and back: compresses, encrypts. Must be thread-safe.
 */
public interface PayloadTransform {
  /** Changes a payload; what the way back needs goes into its metadata. */
  Encoded apply(Encoded payload);

  /** Undoes {@link #apply}; returns a payload that it did not change as it is. */
  Encoded undo(Encoded payload);

  /**
   * Makes a fingerprint of a step's input one that tells the server nothing. The same fingerprint
   * gives the same result.
   */
  default String fingerprint(String plain) {
    return plain;
  }

  /**
   * The same as it was done before, to compare: for a transform whose keys change.
   *
   * @param before a fingerprint that was stored; answered as it is if nothing can be said of it any
   *     more, since its key is gone
   */
  default String fingerprint(String plain, String before) {
    return fingerprint(plain);
  }
}
