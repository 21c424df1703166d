package dev.kagzi.sdk.internal.jdbc;

/**
 * A newer claim of the run has used the step's row, so the older claim must not execute the step.
 */
public final class StaleClaimException extends Exception {
  private static final long serialVersionUID = 1;

  StaleClaimException(StepClaim claim, int found) {
    super(
        "step %s of run %s: claim %d has used its row in kagzi_steps (expected: at most claim %d, which this worker has)"
            .formatted(claim.stepKey(), claim.runId(), found, claim.epoch()));
  }
}
