package dev.kagzi.engine.value;

/**
 * The right to execute a run until the lease ends. Every claim of a run has a higher epoch than the
 * one before. The epoch is the fencing token: writes with an older epoch are rejected.
 */
public record Claim(RunId runId, int epoch) {
  /** The epoch of a client that sends none; it refers to the current claim. */
  public static final int ANY = 0;

  // Half a million claims of one run in each generation. A run with more claims gets epochs of the
  // next generation: they still increase, but are not protected from the loss of the commits of
  // that generation.
  private static final int CLAIM_BITS = 19;

  /** The highest number of a generation: 4,095. */
  public static final int GENERATION_MAX = Integer.MAX_VALUE >> CLAIM_BITS;

  /**
   * Returns the epoch that all claims of a generation of the database exceed, and all earlier
   * claims do not.
   */
  public static int epochBase(int generation) {
    return Math.min(generation, GENERATION_MAX) << CLAIM_BITS;
  }

  /**
   * Returns how many claims of a run there were at most after the one with the first epoch, up to
   * the one with the second: a run that is set aside takes an epoch, too. Returns 0 if they are of
   * different generations, between which epochs are left out.
   */
  public static int between(int earlier, int later) {
    return (earlier >> CLAIM_BITS) == (later >> CLAIM_BITS) ? later - earlier : 0;
  }

  /** Whether it is the first claim of its run. */
  public boolean isFirst() {
    return (epoch & ((1 << CLAIM_BITS) - 1)) == 1;
  }
}
