package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.value.Claim;

/** Takes a claim away from its holder. Returns whether the claim was held. */
public final class ReleaseClaim extends ChangeRun<Boolean> {
  private final Claim claim;
  private final ReleaseReason reason;

  public ReleaseClaim(Claim claim, ReleaseReason reason) {
    super(claim.runId(), 0);
    this.claim = claim;
    this.reason = reason;
  }

  public Claim claim() {
    return claim;
  }

  public ReleaseReason reason() {
    return reason;
  }
}
