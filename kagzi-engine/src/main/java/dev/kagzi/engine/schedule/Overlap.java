package dev.kagzi.engine.schedule;

/** What becomes of a slot while an earlier run of the schedule has not ended. */
public enum Overlap {
  /** It becomes a run beside the others. */
  ALLOW,
  /** It becomes none. */
  SKIP,
  /**
   * The first one waits, and becomes a run with the end of the earlier; further ones become none.
   */
  BUFFER_ONE
}
