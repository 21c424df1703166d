package dev.kagzi.engine.run;

import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A run as its lock returned it, and what the present transaction makes of it. All writes of a
 * batch that concern one run are judged against the same row, one after the other, so that the last
 * word is written once. Times are microseconds since 1970 by the database's clock. Not thread-safe.
 */
public final class RunRow {
  /** The due time of a run that waits for something else than time. */
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
  private final long nowUs;

  private final RunStatus was;
  private RunStatus status;
  private final int epoch;
  private int endedEpoch;
  private final @Nullable Integer freeEpoch;
  private final @Nullable Integer heardEpoch;
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
  private boolean changed;

  RunRow(Identity identity, State state, long nowUs) {
    this.runId = identity.runId();
    this.queue = identity.queue();
    this.type = identity.type();
    this.parent = identity.parent();
    this.parentStep = identity.parentStep();
    this.schedule = identity.schedule();
    this.retryPolicy = identity.retryPolicy();
    this.stepTimeoutMs = identity.stepTimeoutMs();
    this.leaseMs = identity.leaseMs();
    this.detached = identity.detached();
    this.was = state.status();
    this.status = state.status();
    this.epoch = state.epoch();
    this.endedEpoch = state.endedEpoch();
    this.freeEpoch = state.freeEpoch();
    this.heardEpoch = state.heardEpoch();
    this.lostEpoch = state.lostEpoch();
    this.lockedBy = state.lockedBy();
    this.takenFrom = state.takenFrom();
    this.takenEpoch = state.takenEpoch();
    this.availableUs = state.availableUs();
    this.attempts = state.attempts();
    this.crashes = state.crashes();
    this.waitsFor = state.waitsFor();
    this.waitsForAll = state.waitsForAll();
    this.nowUs = nowUs;
  }

  record Identity(
      RunId runId,
      QueueName queue,
      TypeVersion type,
      @Nullable RunId parent,
      @Nullable String parentStep,
      @Nullable RunId schedule,
      @Nullable String retryPolicy,
      @Nullable Long stepTimeoutMs,
      @Nullable Long leaseMs,
      boolean detached) {}

  record State(
      RunStatus status,
      int epoch,
      int endedEpoch,
      @Nullable Integer freeEpoch,
      @Nullable Integer heardEpoch,
      @Nullable Integer lostEpoch,
      @Nullable WorkerId lockedBy,
      @Nullable WorkerId takenFrom,
      @Nullable Integer takenEpoch,
      @Nullable Long availableUs,
      int attempts,
      int crashes,
      List<String> waitsFor,
      boolean waitsForAll) {}

  /** Whether a claim still gives the right to write. */
  public enum Fence {
    HELD,
    /** The claim gave the run back itself: what it says now, it has probably said before. */
    ENDED_BY_ITSELF,
    LOST
  }

  /** Compares a claim with the row; an epoch of {@link Claim#ANY} is held by whoever holds it. */
  public Fence fence(Claim claim) {
    if (status == RunStatus.RUNNING && (claim.epoch() == epoch || claim.epoch() == Claim.ANY)) {
      return Fence.HELD;
    }
    boolean ended = claim.epoch() == Claim.ANY ? endedEpoch == epoch : endedEpoch == claim.epoch();
    return ended ? Fence.ENDED_BY_ITSELF : Fence.LOST;
  }

  /** The claim ends here: the run has reached its end. */
  public void finish(RunStatus end, @Nullable Failure why) {
    giveBack(end, null);
    this.failure = why;
    this.endedEpoch = epoch;
    this.waitsFor = List.of();
  }

  /** The claim ends here: the run has failed, and is tried again as a whole. */
  public void retry(long untilUs, Failure why) {
    giveBack(RunStatus.PENDING, untilUs);
    this.failure = why;
    this.endedEpoch = epoch;
    this.attempts++;
    this.crashes = 0;
  }

  /** A run that has failed goes on where it was. */
  public void resume() {
    giveBack(RunStatus.PENDING, nowUs);
    this.attempts++;
    this.crashes = 0;
  }

  /** The run is ended by somebody who does not hold it. */
  public void endFromOutside(RunStatus end, @Nullable Failure why) {
    giveBack(end, null);
    this.failure = why;
    this.waitsFor = List.of();
  }

  /** The claim ends here: the run waits until its time, and for messages to the steps named. */
  public void park(RunStatus waiting, long untilUs, List<String> steps, boolean all) {
    giveBack(waiting, untilUs);
    this.endedEpoch = epoch;
    this.crashes = 0;
    this.waitsFor = steps;
    this.waitsForAll = all;
  }

  /** The claim ends here, unfinished; that counts nowhere. */
  public void release(long untilUs, @Nullable Failure why) {
    giveBack(RunStatus.PENDING, untilUs);
    this.endedEpoch = epoch;
    this.blockedBy = why;
  }

  /** The claim is taken from a worker that is gone. */
  public void takeFromDeadWorker(long untilUs) {
    takeFromAbsentWorker(untilUs);
    countCrash();
  }

  /** The claim is taken from a worker that has left; that counts nowhere. */
  public void takeFromAbsentWorker(long untilUs) {
    WorkerId worker = lockedBy;
    giveBack(RunStatus.PENDING, untilUs);
    this.takenFrom = worker;
    this.takenEpoch = worker == null ? null : epoch;
  }

  /** One more worker died with the run; what follows says what becomes of the run. */
  public void countCrash() {
    this.crashes++;
    this.changed = true;
  }

  /** The claim is taken from a worker that hangs; that counts nowhere. */
  public void takeFromHungWorker(long untilUs) {
    giveBack(RunStatus.PENDING, untilUs);
    this.takenEpoch = epoch;
  }

  /** The claim lasts longer; it is the given worker's, who has registered anew perhaps. */
  public void renew(WorkerId worker, long untilUs) {
    this.lockedBy = worker;
    this.availableUs = untilUs;
    this.changed = true;
  }

  /** What the run waited for has come. */
  public void wake() {
    this.status = RunStatus.PENDING;
    this.availableUs = nowUs;
    this.waitsFor = List.of();
    this.waitsForAll = false;
    this.changed = true;
  }

  /** A step was recorded: the run makes progress. */
  public void progress() {
    if (crashes != 0) {
      crashes = 0;
      changed = true;
    }
  }

  private void giveBack(RunStatus next, @Nullable Long untilUs) {
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

  /** The schedule that the run was started by. */
  public @Nullable RunId schedule() {
    return schedule;
  }

  /** Its end is told to nobody. */
  public boolean isDetached() {
    return detached;
  }

  /** As stored; decoded only by who needs it. */
  public @Nullable String retryPolicy() {
    return retryPolicy;
  }

  /** How long an attempt of a step may take; null: the server's default. */
  public @Nullable Long stepTimeoutMs() {
    return stepTimeoutMs;
  }

  /** The run's own lease; null: the server's. */
  public @Nullable Long leaseMs() {
    return leaseMs;
  }

  public long nowUs() {
    return nowUs;
  }

  /** Whether it has come to its end, and had done so before this transaction. */
  public boolean hasEndedBefore() {
    return was.isFinal() && status.isFinal();
  }

  /** The status before this transaction. */
  public RunStatus was() {
    return was;
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

  /** True unless the last claim took the run over from one that had not given it back. */
  public boolean isOnlyClaim() {
    return freeEpoch == null || lastClaim() == freeEpoch + 1;
  }

  /** True when the worker of the present claim has called about the run before. */
  public boolean isHeard() {
    return heardEpoch != null && heardEpoch == epoch;
  }

  /** True when a claim before the last one was taken from its worker. */
  public boolean isTakenOver() {
    return lostEpoch != null && lostEpoch < lastClaim();
  }

  /** The epoch of the last claim that a worker had, whether or not it still has it. */
  public int lastClaim() {
    return takenEpoch == null ? epoch : takenEpoch;
  }

  /**
   * True while the run waits because its last claim was taken from its worker, and nobody has
   * claimed it since.
   */
  public boolean isTaken() {
    return status == RunStatus.PENDING && takenFrom != null;
  }

  /** The worker whose claim was taken; null unless the run waits for its next claim since then. */
  public @Nullable WorkerId takenFrom() {
    return takenFrom;
  }

  /** The epoch of the claim that was taken; null unless the run waits for its next claim since. */
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
