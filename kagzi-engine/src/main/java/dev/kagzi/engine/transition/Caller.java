package dev.kagzi.engine.transition;

import dev.kagzi.engine.run.RunRow;
import dev.kagzi.engine.run.RunRow.Fence;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.WorkerId;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Who makes a call about a run, as far as the call shows it. Clients of the first contract name
 * neither an epoch nor, in most messages, a worker; then the connection decides.
 *
 * @param epoch the claim that the call names; null when it names none
 * @param worker the worker that a call without an epoch names; null when it names none
 * @param connection the workers that are known to use the connection over which the call came
 */
public record Caller(@Nullable Integer epoch, @Nullable WorkerId worker, Set<WorkerId> connection) {
  /** Names nothing, over a connection that no worker has used. */
  public static final Caller UNKNOWN = new Caller(null, null, Set.of());

  /** Names its claim. */
  public static Caller ofEpoch(int epoch) {
    return new Caller(epoch, null, Set.of());
  }

  /** The claim of a call that names the run alone. */
  Claim claim(RunId run) {
    if (epoch == null) {
      return new Claim(run, Claim.ANY);
    }
    if (epoch < 1) {
      throw Refusal.invalid("epoch", epoch, "at least 1");
    }
    return new Claim(run, epoch);
  }

  /** Whether the claim is held, and by this caller. */
  Fence fence(RunRow row, Claim claim) {
    Fence fence = row.fence(claim);
    return fence == Fence.HELD && !isHolder(row.lockedBy(), row, claim) ? Fence.LOST : fence;
  }

  /**
   * Like {@link #fence}, for the end of the run. A worker that was slow or cut off lost its claim,
   * and the run waits for its next one: until then the end that the worker reports makes a repeated
   * execution unnecessary. A call that names its claim is told that the claim is over.
   */
  Fence fenceOfEnd(RunRow row, Claim claim) {
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
    // Behind a proxy the holder may come over any connection. Nobody else executes the run unless
    // an earlier claim was taken from its worker: then a connection of other workers is not enough.
    return row.isOnlyClaim() && (connection.isEmpty() || !row.isTakenOver());
  }

  /** Why {@link #fence} did not find the claim held. */
  Refusal claimLost(RunRow row, Claim claim) {
    String found =
        claim.epoch() == Claim.ANY
            ? "the call names no claim" + (worker == null ? "" : ", worker " + worker)
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
