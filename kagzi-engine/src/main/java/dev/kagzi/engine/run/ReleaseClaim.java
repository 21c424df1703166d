package dev.kagzi.engine.run;

import dev.kagzi.engine.value.Claim;

/**
 * Takes a claim from a worker that is gone or no longer knows the claim. Returns whether the claim
 * was held.
 */
public final class ReleaseClaim extends ChangeRun<Boolean> {
  private final Claim claim;
  private final Cause cause;

  /** Why the claim is released. */
  public enum Cause {
    /** The worker crashed or went silent. Counts as a crash of the run. */
    WORKER_GONE,
    /** The worker deregistered. No crash, but its code may still be executing. */
    WORKER_LEFT,
    /** The worker never received the task, or dropped it. No crash. */
    NOT_TAKEN
  }

  public ReleaseClaim(Claim claim, Cause cause) {
    super(claim.runId(), 0);
    this.claim = claim;
    this.cause = cause;
  }

  public Claim claim() {
    return claim;
  }

  public Cause cause() {
    return cause;
  }
}
