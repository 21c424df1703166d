package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.internal.message.RunMessage;
import dev.kagzi.engine.internal.run.RunEvents;
import dev.kagzi.engine.internal.run.RunRow;
import dev.kagzi.engine.internal.run.TakeReason;
import dev.kagzi.engine.run.Versions;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Changes a locked run in memory and registers the events to publish after the commit. */
record RunMutations(RunBatch batch, Versions versions, RunEvents events) {
  private static final Logger log = LoggerFactory.getLogger(RunMutations.class);
  private static final long US_PER_MS = 1_000;
  private static final long CLEAN_UP_DELAY_MS_MAX = 1_000;

  void finish(RunRow row, RunStatus status, @Nullable Failure failure, @Nullable Payload output) {
    Claim claim = new Claim(row.runId(), row.lastClaim());
    row.finish(status, failure);
    if (output != null) {
      batch.output(row.runId(), output);
    }
    if (status != RunStatus.COMPLETED) {
      // Runs rarely end unsuccessfully, so an extra statement for their open steps is affordable.
      batch.closeSteps(row.runId());
    }
    batch.afterCommit(() -> events.claimEnded(claim));
    notifyOfEnd(row, status, output);
  }

  /** Fails a run from outside of its claim (timeout, crashes) and starts its failure handlers. */
  void fail(RunRow row, RunStatus status, Failure why) {
    WorkerId worker = row.lockedBy();
    Claim claim = new Claim(row.runId(), row.epoch());
    row.endFromOutside(status, why);
    batch.closeSteps(row.runId());
    stopWorker(worker, claim, status);
    startFailureHandlers(row, status, why);
    notifyOfEnd(row, status, null);
  }

  /** Cancels, or terminates with a failure, the run and its children that are not detached. */
  void cancel(RunRow row, @Nullable Failure why) {
    endFromOutside(row, why == null ? RunStatus.CANCELLED : RunStatus.FAILED, why);
    batch.childCancels().ofRun(row.runId(), why);
  }

  /** Ends a run that cleans up; the failure is why its code did not end it. */
  void endCleanUp(RunRow row, Failure why) {
    endFromOutside(row, RunStatus.CANCELLED, why);
    batch.childCancels().ofRun(row.runId(), null);
  }

  private void endFromOutside(RunRow row, RunStatus end, @Nullable Failure why) {
    WorkerId worker = row.lockedBy();
    Claim claim = new Claim(row.runId(), row.epoch());
    row.endFromOutside(end, why);
    batch.closeSteps(row.runId());
    stopWorker(worker, claim, end);
    notifyOfEnd(row, end, null);
  }

  void startFailureHandlers(RunRow row, RunStatus status, Failure why) {
    FailureContext context = batch.failureContext(row.runId());
    if (context != null) {
      new FailureHandlerStarts(row, status, why, context, versions).all().forEach(batch::start);
    }
  }

  void stopWorker(@Nullable WorkerId worker, Claim claim, RunStatus status) {
    if (worker != null) {
      batch.afterCommit(() -> events.stop(worker, claim, status));
      batch.afterCommit(() -> events.claimEnded(claim));
    }
  }

  /**
   * Takes the claim away from its holder, which receives a stop message. The run can be claimed
   * again after the delay. A claim whose lease has ended is not taken here but by a claim query.
   */
  void take(RunRow row, TakeReason reason, long delayMs) {
    WorkerId worker = row.lockedBy();
    Claim claim = new Claim(row.runId(), row.epoch());
    row.take(reason, row.nowUs() + delayMs * US_PER_MS);
    batch.afterCommit(() -> logTaken(worker, claim, reason));
    publishLost(row, reason);
    batch.afterCommit(() -> events.claimEnded(claim));
    if (worker != null) {
      batch.afterCommit(() -> events.stop(worker, claim, row.status()));
    }
    batch.afterCommit(() -> events.runDue(row.queue(), row.type(), delayMs));
  }

  /** Publishes, after the commit, that the claim was taken from its worker. */
  void publishLost(RunRow row, TakeReason reason) {
    batch.afterCommit(() -> events.claimLost(row.queue(), row.type(), reason));
  }

  private static void logTaken(@Nullable WorkerId worker, Claim claim, TakeReason reason) {
    log.atDebug()
        .addKeyValue("run", claim.runId())
        .addKeyValue("epoch", claim.epoch())
        .addKeyValue("worker", worker)
        .addKeyValue("reason", reason)
        .log("claim taken");
  }

  void retry(RunRow row, Failure why, long dueUs) {
    Claim claim = new Claim(row.runId(), row.lastClaim());
    row.retry(dueUs, why);
    batch.afterCommit(() -> events.runRetried(row.queue(), row.type()));
    batch.afterCommit(() -> events.claimEnded(claim));
    long delayMs = remainingMs(row, dueUs);
    batch.afterCommit(() -> events.runDue(row.queue(), row.type(), delayMs));
  }

  /** Publishes, after the commit, that a step has another attempt. */
  void publishStepRetry(RunRow row) {
    batch.afterCommit(() -> events.stepRetried(row.queue(), row.type()));
  }

  /** Publishes, after the commit, that a run or an attempt of a step expires after this delay. */
  void publishExpiry(long delayMs) {
    batch.afterCommit(() -> events.expires(delayMs));
  }

  /** Posts the end to the parent, unless the run is detached, and publishes it after the commit. */
  void notifyOfEnd(RunRow row, RunStatus status, @Nullable Payload output) {
    RunId parent = row.parent();
    String parentStep = row.parentStep();
    // The parent waits for the end of the chain, and knows its first run as its child.
    if (parent != null && parentStep != null && !row.isDetached() && row.continuedTo() == null) {
      batch.post(
          status == RunStatus.COMPLETED
              ? RunMessage.completed(parent, parentStep, row.chainId(), output)
              : RunMessage.failed(parent, parentStep, row.chainId(), childFailure(row, status)));
      batch.afterCommit(() -> events.messagesPosted(parent));
    }
    batch.afterCommit(
        () ->
            events.ended(
                RunBatch.completion(row, status, output),
                row.queue().namespace(),
                row.type().type()));
  }

  /** The failure that the parent's code receives; its metadata contains the child's status. */
  private static Failure childFailure(RunRow row, RunStatus status) {
    Failure own = row.failure();
    Failure why =
        own == null ? Failure.of(ErrorCode.UNSPECIFIED, "the run ended as " + status) : own;
    Map<String, String> metadata = new HashMap<>(why.metadata());
    metadata.put("status", status.name());
    return new Failure(
        why.code(),
        why.message(),
        why.nonRetryable(),
        why.retryAfterMs(),
        why.subject(),
        why.subjectId(),
        metadata);
  }

  void park(RunRow row, RunStatus status, long untilUs, List<String> steps, boolean all) {
    Claim claim = new Claim(row.runId(), row.epoch());
    if (row.mayMissCancel()) {
      // The worker may not have known of the cancel when it parked the run. Make the run due at
      // once, because its next task contains the cancel.
      row.park(RunStatus.PENDING, row.nowUs(), List.of(), false);
      batch.afterCommit(() -> events.claimEnded(claim));
      batch.afterCommit(() -> events.runDue(row.queue(), row.type(), 0));
      return;
    }
    row.park(status, untilUs, steps, all);
    batch.afterCommit(() -> events.claimEnded(claim));
    if (untilUs != RunRow.NEVER) {
      long delayMs = remainingMs(row, untilUs);
      batch.afterCommit(() -> events.runDue(row.queue(), row.type(), delayMs));
    }
  }

  static Instant instant(long us) {
    return Instant.EPOCH.plus(us, ChronoUnit.MICROS);
  }

  /** Rounded up, so that a timer never fires before the due time. */
  static long remainingMs(RunRow row, long dueUs) {
    return Math.max(0, Math.ceilDiv(dueUs - row.nowUs(), US_PER_MS));
  }

  /**
   * Ends the claim of an unfinished run, which can be claimed again after the delay. A run that is
   * cancelled waits shortly at most: its code must still clean up within its grace.
   */
  void release(RunRow row, long requestedMs, @Nullable Failure blockedBy) {
    Claim claim = new Claim(row.runId(), row.epoch());
    long maxMs = row.mayMissCancel() ? 0 : CLEAN_UP_DELAY_MS_MAX;
    long delayMs = row.isCancelRequested() ? Math.min(requestedMs, maxMs) : requestedMs;
    row.release(row.nowUs() + delayMs * US_PER_MS, blockedBy);
    batch.afterCommit(() -> events.claimEnded(claim));
    batch.afterCommit(() -> events.runDue(row.queue(), row.type(), delayMs));
  }
}
