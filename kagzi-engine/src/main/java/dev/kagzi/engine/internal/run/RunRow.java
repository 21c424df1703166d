package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.run.Caller;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A locked run with the pending changes of the current transaction. All writes of a batch that
 * concern one run are decided one after the other on the same row, which is then written once.
 * Times are microseconds since 1970 by the database's clock. Not thread-safe.
 */
public final class RunRow {
  /** The due time of a run that waits for steps (children or signals) without a timeout. */
  public static final long NEVER = Long.MAX_VALUE;

  private final RunId runId;
  private final QueueName queue;
  private final TypeVersion type;
  private final @Nullable RunId parent;
  private final @Nullable String parentStep;
  private final @Nullable RunId schedule;
  private final @Nullable String retryPolicy;
  private final @Nullable Long stepTimeoutMs;
  private final @Nullable Long leaseMs;
  private final boolean detached;
  private final @Nullable RunId firstRun;
  private final long nowUs;

  private final RunStatus previousStatus;
  private RunStatus status;
  private final int epoch;
  private int endedEpoch;
  private final @Nullable Integer freeEpoch;
  private final @Nullable Integer acknowledgedEpoch;
  private final @Nullable Integer lostEpoch;
  private @Nullable WorkerId lockedBy;
  private @Nullable WorkerId takenFrom;
  private @Nullable Integer takenEpoch;
  private @Nullable Long availableUs;
  private int attempts;
  private int crashes;
  private @Nullable Failure failure;
  private @Nullable Failure blockedBy;
  private List<String> waitsFor;
  private boolean waitsForAll;
  private boolean simple;
  private @Nullable RunId continuedTo;
  private final @Nullable Long cleanUpMs;
  private @Nullable Integer cancelEpoch;
  private boolean changed;

  RunRow(Row row) throws SQLException {
    this.runId = row.runId("run_id");
    this.queue = new QueueName(row.text("namespace"), row.text("task_queue"));
    this.type = new TypeVersion(row.text("workflow_type"), row.text("version"));
    this.parent = row.runIdOrNull("parent_run_id");
    this.parentStep = row.textOrNull("parent_step_id");
    this.schedule = row.runIdOrNull("schedule_id");
    this.retryPolicy = row.textOrNull("retry_policy");
    this.stepTimeoutMs = row.bigintOrNull("step_timeout_ms");
    this.leaseMs = row.bigintOrNull("heartbeat_timeout_ms");
    this.detached = row.bool("detached");
    this.previousStatus = RunStatus.valueOf(row.text("status"));
    this.status = previousStatus;
    this.epoch = row.integer("epoch");
    this.endedEpoch = row.integer("ended_epoch");
    this.freeEpoch = row.integerOrNull("free_epoch");
    this.acknowledgedEpoch = row.integerOrNull("acknowledged_epoch");
    this.lostEpoch = row.integerOrNull("lost_epoch");
    this.lockedBy = row.workerIdOrNull("locked_by");
    this.takenFrom = row.workerIdOrNull("taken_from");
    this.takenEpoch = row.integerOrNull("taken_epoch");
    this.availableUs = row.bigintOrNull("available_us");
    this.attempts = row.integer("attempts");
    this.crashes = row.integer("crashes");
    this.waitsFor = row.texts("waits_for");
    this.waitsForAll = row.bool("waits_for_all");
    this.simple = row.bool("simple");
    this.firstRun = row.runIdOrNull("first_run_id");
    this.continuedTo = row.runIdOrNull("continued_to");
    this.cleanUpMs = row.bigintOrNull("clean_up_ms");
    this.cancelEpoch = row.integerOrNull("cancel_epoch");
    this.nowUs = row.bigint("now_us");
  }

  public enum Fence {
    HELD,
    /** The holder has ended the claim itself, so this report was probably sent before. */
    ENDED_BY_HOLDER,
    LOST
  }

  /** Compares a claim with the row. The epoch {@link Claim#ANY} matches the current claim. */
  public Fence fence(Claim claim) {
    if (status == RunStatus.RUNNING && (claim.epoch() == epoch || claim.epoch() == Claim.ANY)) {
      return Fence.HELD;
    }
    boolean ended = claim.epoch() == Claim.ANY ? endedEpoch == epoch : endedEpoch == claim.epoch();
    return ended ? Fence.ENDED_BY_HOLDER : Fence.LOST;
  }

  /** Like {@link #fence(Claim)}, but a claim that another caller holds is LOST. */
  public Fence fence(Claim claim, Caller caller) {
    Fence fence = fence(claim);
    return fence == Fence.HELD && !isHolder(lockedBy, claim, caller) ? Fence.LOST : fence;
  }

  /**
   * Like {@link #fence(Claim, Caller)}, for a report that ends the run. If a slow or disconnected
   * worker lost its claim and no other worker has claimed the run since, accepting the end avoids a
   * second execution. A call that contains its epoch is still refused.
   *
   * @param caller null for a worker that sends its epoch with every report
   */
  public Fence fenceOfCompletion(Claim claim, @Nullable Caller caller) {
    if (caller == null) {
      return fence(claim);
    }
    boolean taken = status == RunStatus.PENDING && takenFrom != null;
    return claim.epoch() == Claim.ANY && taken && isHolder(takenFrom, claim, caller)
        ? Fence.HELD
        : fence(claim, caller);
  }

  private boolean isHolder(@Nullable WorkerId holder, Claim claim, Caller caller) {
    if (holder == null || caller.worker() != null) {
      return holder != null && holder.equals(caller.worker());
    }
    if (claim.epoch() != Claim.ANY || caller.connection().contains(holder)) {
      return true;
    }
    // Behind a proxy the holder's calls may arrive over any connection. Accepting them is safe
    // unless another worker lost an earlier claim, because that worker may still execute the run.
    // Then a connection that other workers use is refused. It is also refused if the database may
    // have lost commits, because an earlier claim may be among them.
    return isOnlyClaim()
        && (caller.connection().isEmpty() || !(isTakenOver() || lastClaim() > Claim.epochBase(1)));
  }

  /** The refusal for a claim that {@link #fence(Claim, Caller)} did not find held. */
  public Refusal claimLost(Claim claim, Caller caller) {
    String found = claim.epoch() == Claim.ANY ? "no epoch in the call" : "epoch " + claim.epoch();
    String worker = caller.worker() == null ? "" : ", worker " + caller.worker();
    String expected =
        lockedBy == null
            ? "a run that this caller holds"
            : "epoch "
                + epoch
                + ", held by worker "
                + lockedBy
                + "; send the epoch, the header kagzi-worker-id, or use the connection that polled"
                + " the run";
    return Refusal.of(
        Refusal.Code.CLAIM_LOST,
        "run",
        runId.toString(),
        "run %s: claim lost (status %s, %s; expected: %s)"
            .formatted(runId, status, found + worker, expected));
  }

  public void finish(RunStatus end, @Nullable Failure why) {
    endClaim(end, null);
    this.failure = why;
    this.endedEpoch = epoch;
    this.waitsFor = List.of();
  }

  /** Records the successor of a run that continues as new. The caller also ends the run. */
  public void continueAs(RunId successor) {
    this.continuedTo = successor;
  }

  /** The run that this one has continued as, before this transaction or in it; null if none. */
  public @Nullable RunId continuedTo() {
    return continuedTo;
  }

  /** The first run of the run's chain; null if this run is the first. */
  public @Nullable RunId firstRun() {
    return firstRun;
  }

  /** Identifies the chain: the id of its first run. */
  public RunId chainId() {
    return firstRun == null ? runId : firstRun;
  }

  /** The holder has failed the run, and the whole run is retried. */
  public void retry(long untilUs, Failure why) {
    endClaim(RunStatus.PENDING, untilUs);
    this.failure = why;
    this.endedEpoch = epoch;
    this.attempts++;
    this.crashes = 0;
  }

  /** Makes a failed run claimable again, in a new attempt. */
  public void resume() {
    endClaim(RunStatus.PENDING, nowUs);
    this.attempts++;
    this.crashes = 0;
    this.cancelEpoch = null;
  }

  /** Ends the run without a report of its holder: by cancel, terminate, timeout or crashes. */
  public void endFromOutside(RunStatus end, @Nullable Failure why) {
    endClaim(end, null);
    this.failure = why;
    this.waitsFor = List.of();
  }

  /** The holder ends its claim; the run waits until the given time or for the given steps. */
  public void park(RunStatus waiting, long untilUs, List<String> steps, boolean all) {
    endClaim(waiting, untilUs);
    this.endedEpoch = epoch;
    this.crashes = 0;
    this.waitsFor = steps;
    this.waitsForAll = all;
  }

  /** The holder releases the unfinished run. Counts neither as a failure nor as a crash. */
  public void release(long untilUs, @Nullable Failure why) {
    endClaim(RunStatus.PENDING, untilUs);
    this.endedEpoch = epoch;
    this.blockedBy = why;
  }

  /** Takes the claim away from its holder, which has not ended it. */
  public void take(TakeReason reason, long untilUs) {
    WorkerId worker = lockedBy;
    endClaim(RunStatus.PENDING, untilUs);
    switch (reason.holder()) {
      case CRASHED -> {
        takenFrom(worker);
        countCrash();
      }
      case LEFT -> takenFrom(worker);
      case HANGS -> this.takenEpoch = epoch;
      case WITHOUT_TASK -> this.endedEpoch = epoch;
    }
  }

  private void takenFrom(@Nullable WorkerId worker) {
    this.takenFrom = worker;
    this.takenEpoch = worker == null ? null : epoch;
  }

  /** Counts a crash. The caller also changes the status. */
  public void countCrash() {
    this.crashes++;
    this.changed = true;
  }

  /** Extends the lease. The worker id may be new if the worker has registered again. */
  public void renew(WorkerId worker, long untilUs) {
    this.lockedBy = worker;
    this.availableUs = untilUs;
    this.changed = true;
  }

  /** Makes a waiting run claimable because the awaited steps have ended. */
  public void wake() {
    this.status = RunStatus.PENDING;
    this.availableUs = nowUs;
    this.waitsFor = List.of();
    this.waitsForAll = false;
    this.changed = true;
  }

  /**
   * Records that a simple client executes the run. This is written together with the
   * acknowledgement of the hand-out, which the client's first call about the run causes.
   */
  public void markSimple() {
    this.simple = true;
  }

  /** Whether a simple client has executed the run. Such a run cannot receive signals. */
  public boolean isSimple() {
    return simple;
  }

  /** How long the code may clean up after a cancel; null: a cancel ends the run at once. */
  public @Nullable Long cleanUpMs() {
    return cleanUpMs;
  }

  /** Whether the run cleans up, or has ended while it did. */
  public boolean isCancelRequested() {
    return cancelEpoch != null;
  }

  /** Whether the worker of the current claim may not know yet that a cancel was requested. */
  public boolean mayMissCancel() {
    return cancelEpoch != null && cancelEpoch == epoch;
  }

  /**
   * Requests that the code cleans up. A waiting run becomes due at once, unless its workers have
   * crashed: the delay after a crash protects other workers.
   */
  public void requestCancel() {
    this.cancelEpoch = epoch;
    if (status == RunStatus.SLEEPING || (status == RunStatus.PENDING && crashes == 0)) {
      wake();
    }
    this.changed = true;
  }

  /** Resets the crash count because a step was recorded. */
  public void recordProgress() {
    if (crashes != 0) {
      crashes = 0;
      changed = true;
    }
  }

  private void endClaim(RunStatus next, @Nullable Long untilUs) {
    this.status = next;
    this.availableUs = untilUs;
    this.lockedBy = null;
    this.takenFrom = null;
    this.takenEpoch = null;
    this.blockedBy = null;
    this.changed = true;
  }

  public RunId runId() {
    return runId;
  }

  public QueueName queue() {
    return queue;
  }

  public TypeVersion type() {
    return type;
  }

  public @Nullable RunId parent() {
    return parent;
  }

  public @Nullable String parentStep() {
    return parentStep;
  }

  public @Nullable RunId schedule() {
    return schedule;
  }

  /**
   * True if the parent is not notified of this run's end, and a cancel of the parent does not reach
   * this run.
   */
  public boolean isDetached() {
    return detached;
  }

  /** The stored JSON; decode it with RetryPolicyJson. */
  public @Nullable String retryPolicy() {
    return retryPolicy;
  }

  /** Timeout of a step attempt; null: the server's default. */
  public @Nullable Long stepTimeoutMs() {
    return stepTimeoutMs;
  }

  /** The run's lease duration; null: the server's. */
  public @Nullable Long leaseMs() {
    return leaseMs;
  }

  public long nowUs() {
    return nowUs;
  }

  /** Whether the run has ended, and had ended before this transaction. */
  public boolean hadEndedBefore() {
    return previousStatus.isFinal() && status.isFinal();
  }

  public RunStatus previousStatus() {
    return previousStatus;
  }

  public RunStatus status() {
    return status;
  }

  public int epoch() {
    return epoch;
  }

  public int endedEpoch() {
    return endedEpoch;
  }

  /** False if the last claim took over a RUNNING run, whose lease had ended; true otherwise. */
  private boolean isOnlyClaim() {
    return freeEpoch == null || lastClaim() == freeEpoch + 1;
  }

  /** True if it is stored that the worker of the current claim has received the task. */
  public boolean isHandOutAcknowledged() {
    return acknowledgedEpoch != null && acknowledgedEpoch == epoch;
  }

  /** True if a claim before the last one was taken from a worker that may still execute the run. */
  private boolean isTakenOver() {
    return lostEpoch != null && lostEpoch < lastClaim();
  }

  /**
   * The epoch of the last claim that a worker got. A claim query that sets a run aside increases
   * the epoch too, but gives the run to no worker.
   */
  public int lastClaim() {
    return takenEpoch == null ? epoch : takenEpoch;
  }

  /** The worker that lost the last claim and may still report the end; null if there is none. */
  public @Nullable WorkerId takenFrom() {
    return takenFrom;
  }

  /**
   * The epoch of the last claim if it was taken from a worker that may still execute the run, and
   * no worker has claimed the run since; otherwise null.
   */
  public @Nullable Integer takenEpoch() {
    return takenEpoch;
  }

  public @Nullable WorkerId lockedBy() {
    return lockedBy;
  }

  public @Nullable Long availableUs() {
    return availableUs;
  }

  public int attempts() {
    return attempts;
  }

  public int crashes() {
    return crashes;
  }

  public @Nullable Failure failure() {
    return failure;
  }

  public @Nullable Failure blockedBy() {
    return blockedBy;
  }

  public List<String> waitsFor() {
    return waitsFor;
  }

  public boolean waitsForAll() {
    return waitsForAll;
  }

  public boolean isChanged() {
    return changed;
  }
}
