package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.value.Claim;

/** Takes a claim away from its holder. Returns whether the claim was held. */
public final class TakeClaim extends ChangeRun<Boolean> {
  private final Claim claim;
  private final TakeReason reason;

  public TakeClaim(Claim claim, TakeReason reason) {
    super(claim.runId(), 0);
    this.claim = claim;
    this.reason = reason;
  }

  public Claim claim() {
    return claim;
  }

  public TakeReason reason() {
    return reason;
  }
}
