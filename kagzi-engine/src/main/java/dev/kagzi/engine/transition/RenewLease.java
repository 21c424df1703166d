package dev.kagzi.engine.transition;

import dev.kagzi.engine.run.RunWrite;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.WorkerId;

/**
 * The write that makes a lease full, for a run that was locked when its worker's heartbeat came:
 * its own lane has the lock. Answers whether the claim was held.
 */
public final class RenewLease extends RunWrite<Boolean> {
  private final WorkerId worker;
  private final Claim claim;
  private final long leaseMs;

  public RenewLease(WorkerId worker, Claim claim, long leaseMs) {
    super(claim.runId(), 0);
    this.worker = worker;
    this.claim = claim;
    this.leaseMs = leaseMs;
  }

  WorkerId worker() {
    return worker;
  }

  Claim claim() {
    return claim;
  }

  long leaseMs() {
    return leaseMs;
  }
}
