package dev.kagzi.engine.value;

/**
 * The right to execute a run until the lease ends. Every claim of a run has a higher epoch than the
 * one before. The epoch is the fencing token: writes with an older epoch are rejected.
 */
public record Claim(RunId runId, int epoch) {
  /** The epoch of a client that sends none; it refers to the current claim. */
  public static final int ANY = 0;
}
