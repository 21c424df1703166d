package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.WorkerId;

/**
 * Renews the lease of a run that another transaction had locked when the heartbeat arrived; the
 * run's own lane waits for the lock. Returns whether the claim was held.
 */
public final class RenewLease extends ChangeRun<Boolean> {
  private final WorkerId worker;
  private final Claim claim;
  private final long leaseMs;

  public RenewLease(WorkerId worker, Claim claim, long leaseMs) {
    super(claim.runId(), 0);
    this.worker = worker;
    this.claim = claim;
    this.leaseMs = leaseMs;
  }

  public WorkerId worker() {
    return worker;
  }

  public Claim claim() {
    return claim;
  }

  public long leaseMs() {
    return leaseMs;
  }
}
