package dev.kagzi.engine.transition;

import dev.kagzi.engine.run.RunWrite;
import dev.kagzi.engine.value.Claim;

/**
 * The write that takes a claim from a worker that is gone, or that no longer knows of it; answers
 * whether the claim was held.
 */
public final class ReleaseClaim extends RunWrite<Boolean> {
  private final Claim claim;
  private final Cause cause;

  /** Why the claim is free. */
  public enum Cause {
    /** The worker is gone: counts as a crash of the run. */
    WORKER_GONE,
    /** The worker has deregistered: counts nowhere, but its code may still be executing. */
    WORKER_LEFT,
    /** The worker never got the task, or has dropped it: counts nowhere. */
    NOT_TAKEN
  }

  public ReleaseClaim(Claim claim, Cause cause) {
    super(claim.runId(), 0);
    this.claim = claim;
    this.cause = cause;
  }

  Claim claim() {
    return claim;
  }

  Cause cause() {
    return cause;
  }
}
