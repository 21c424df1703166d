package dev.kagzi.engine.run;

import dev.kagzi.engine.internal.run.RunRow;
import dev.kagzi.engine.internal.run.RunRow.Fence;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.WorkerId;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Identifies the caller of a simple client's call. Most of these calls name neither an epoch nor a
 * worker; then the connection identifies the caller.
 *
 * @param epoch the epoch in the call; null for none
 * @param worker the worker in a call without an epoch; null for none
 * @param connection the workers that have used the connection of the call
 */
public record Caller(@Nullable Integer epoch, @Nullable WorkerId worker, Set<WorkerId> connection) {
  /** A call without epoch and worker, over a connection that no worker has used. */
  public static final Caller UNKNOWN = new Caller(null, null, Set.of());

  public static Caller ofEpoch(int epoch) {
    return new Caller(epoch, null, Set.of());
  }

  public Claim claim(RunId run) {
    if (epoch == null) {
      return new Claim(run, Claim.ANY);
    }
    if (epoch < 1) {
      throw Refusal.invalid("epoch", epoch, "at least 1");
    }
    return new Claim(run, epoch);
  }

  /** Like {@link RunRow#fence}, but a claim that another caller holds is LOST. */
  public Fence fence(RunRow row, Claim claim) {
    Fence fence = row.fence(claim);
    return fence == Fence.HELD && !isHolder(row.lockedBy(), row, claim) ? Fence.LOST : fence;
  }

  /**
   * Like {@link #fence}, for a report that ends the run. If a slow or disconnected worker lost its
   * claim and no other worker has claimed the run since, accepting the end avoids a second
   * execution. A call that contains its epoch is still refused.
   */
  public Fence fenceOfCompletion(RunRow row, Claim claim) {
    return claim.epoch() == Claim.ANY && row.isTaken() && isHolder(row.takenFrom(), row, claim)
        ? Fence.HELD
        : fence(row, claim);
  }

  private boolean isHolder(@Nullable WorkerId holder, RunRow row, Claim claim) {
    if (holder == null || worker != null) {
      return holder != null && holder.equals(worker);
    }
    if (claim.epoch() != Claim.ANY || connection.contains(holder)) {
      return true;
    }
    // Behind a proxy the holder's calls may arrive over any connection. That is safe unless another
    // worker lost an earlier claim, because it may still be executing the run: then a connection
    // that other workers use is refused.
    return row.isOnlyClaim() && (connection.isEmpty() || !row.isTakenOver());
  }

  /** The refusal for a claim that {@link #fence} did not find held. */
  public Refusal claimLost(RunRow row, Claim claim) {
    String found =
        claim.epoch() == Claim.ANY
            ? "no epoch in the call" + (worker == null ? "" : ", worker " + worker)
            : "epoch " + claim.epoch() + (worker == null ? "" : ", worker " + worker);
    String expected =
        row.lockedBy() == null
            ? "a run that this caller holds"
            : "epoch "
                + row.epoch()
                + ", held by worker "
                + row.lockedBy()
                + "; send the epoch, the header kagzi-worker-id, or use the connection that polled"
                + " the run";
    return Refusal.of(
        Refusal.Code.CLAIM_LOST,
        "run",
        row.runId().toString(),
        "run %s: claim lost (status %s, %s; expected: %s)"
            .formatted(row.runId(), row.status(), found, expected));
  }
}
