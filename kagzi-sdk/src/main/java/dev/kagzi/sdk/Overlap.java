package dev.kagzi.sdk;

/** What becomes of a slot of a {@link Schedule} while an earlier run of it has not ended. */
public enum Overlap {
  /** It becomes a run beside the others. */
  ALLOW,
  /** It becomes none, and is counted as missed. */
  SKIP,
  /**
   * The first one waits, and starts with the end of the earlier run, however that ends. Further
   * ones become none, and are counted as missed.
   */
  BUFFER_ONE
}
