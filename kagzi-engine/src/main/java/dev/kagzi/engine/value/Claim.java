package dev.kagzi.engine.value;

/**
 * The right to execute a run until the lease ends. Every claim of a run has a higher epoch than the
 * one before. The epoch is the fencing token: writes with an older epoch are rejected.
 */
public record Claim(RunId runId, int epoch) {
  /** The epoch of a client that sends none; it refers to the current claim. */
  public static final int ANY = 0;

  // An epoch has the number of a generation of the database in its high bits, and 19 bits for the
  // claims of a run in that generation: half a million. A run with more claims gets epochs of the
  // next generation. They still increase, but do not protect from the loss of commits of that
  // generation.
  private static final int CLAIM_BITS = 19;

  /** The highest number of a generation: 4,095. */
  public static final int GENERATION_MAX = Integer.MAX_VALUE >> CLAIM_BITS;

  /**
   * Returns the highest epoch before a generation of the database: all claims of the generation
   * have higher epochs, and claims of earlier generations do not.
   */
  public static int epochBase(int generation) {
    return Math.min(generation, GENERATION_MAX) << CLAIM_BITS;
  }

  /**
   * Returns how many claims of a run there were at most, after the claim with the first epoch and
   * up to the claim with the second. There may be fewer: a run that is delayed after a crash also
   * gets a new epoch. Returns 0 if the epochs are of different generations, because a new
   * generation skips epochs.
   */
  public static int between(int earlier, int later) {
    return (earlier >> CLAIM_BITS) == (later >> CLAIM_BITS) ? later - earlier : 0;
  }

  /** Whether it is the first claim of its run. */
  public boolean isFirst() {
    return (epoch & ((1 << CLAIM_BITS) - 1)) == 1;
  }
}
