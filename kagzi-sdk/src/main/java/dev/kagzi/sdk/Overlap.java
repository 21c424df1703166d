package dev.kagzi.sdk;

/** What a {@link Schedule} does when it fires while an earlier run of it has not ended. */
public enum Overlap {
  /** Starts another run concurrently. */
  ALLOW,
  /** Starts no run and counts the slot as missed. */
  SKIP,
  /**
   * Keeps one slot waiting and starts its run when the earlier run ends, in any status. Further
   * slots are counted as missed.
   */
  BUFFER_ONE
}
