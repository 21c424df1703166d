package dev.kagzi.engine.transition;

import dev.kagzi.engine.message.RunMessage;
import dev.kagzi.engine.run.RunEvents;
import dev.kagzi.engine.run.RunRow;
import dev.kagzi.engine.run.Versions;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a decision does to a run, together with what is to be told of it after the commit. */
final class RunMutations {
  private static final long US_PER_MS = 1_000;

  private final RunBatch batch;
  private final Versions versions;
  private final RunEvents events;

  RunMutations(RunBatch batch, Versions versions, RunEvents events) {
    this.batch = batch;
    this.versions = versions;
    this.events = events;
  }

  void end(RunRow row, RunStatus status, @Nullable Failure failure, @Nullable Payload output) {
    Claim claim = new Claim(row.runId(), row.lastClaim());
    row.finish(status, failure);
    if (output != null) {
      batch.output(row.runId(), output);
    }
    if (status != RunStatus.COMPLETED) {
      // Seldom enough to look for open steps each time.
      batch.closeSteps(row.runId());
    }
    batch.then(() -> events.claimEnded(claim));
    tellEnd(row, status, output);
  }

  /**
   * The run fails for good: by its own code, or by somebody who found that it cannot go on. Its
   * handlers start with it.
   */
  void fail(RunRow row, RunStatus status, Failure why) {
    WorkerId worker = row.lockedBy();
    Claim claim = new Claim(row.runId(), row.epoch());
    row.endFromOutside(status, why);
    batch.closeSteps(row.runId());
    stop(worker, claim, status);
    handle(row, status, why);
    tellEnd(row, status, null);
  }

  /** Somebody ends the run: for no reason, or for one that counts as a failure. */
  void cancel(RunRow row, @Nullable Failure why) {
    RunStatus end = why == null ? RunStatus.CANCELLED : RunStatus.FAILED;
    WorkerId worker = row.lockedBy();
    Claim claim = new Claim(row.runId(), row.epoch());
    row.endFromOutside(end, why);
    batch.closeSteps(row.runId());
    batch.cancelChildren(row.runId(), why);
    stop(worker, claim, end);
    tellEnd(row, end, null);
  }

  /** Starts what handles the failure of a run. */
  void handle(RunRow row, RunStatus status, Failure why) {
    FailureContext news = batch.news(row.runId());
    if (news != null) {
      FailureHandlerStarts.of(row, status, why, news, versions).forEach(batch::start);
    }
  }

  /** Whoever executes the run is to stop. */
  void stop(@Nullable WorkerId worker, Claim claim, RunStatus status) {
    if (worker != null) {
      batch.then(() -> events.stop(worker, claim, status));
      batch.then(() -> events.claimEnded(claim));
    }
  }

  /** A worker's code hangs: the run is due elsewhere. */
  void takeFromHungWorker(RunRow row, long dueUs) {
    WorkerId worker = row.lockedBy();
    Claim claim = new Claim(row.runId(), row.epoch());
    row.takeFromHungWorker(dueUs);
    stop(worker, claim, row.status());
    long delayMs = remainingMs(row, dueUs);
    batch.then(() -> events.due(row.queue(), row.type(), delayMs));
  }

  /** The claim's run has failed and is tried again as a whole. */
  void retry(RunRow row, Failure why, long dueUs) {
    Claim claim = new Claim(row.runId(), row.lastClaim());
    row.retry(dueUs, why);
    batch.then(() -> events.claimEnded(claim));
    long delayMs = remainingMs(row, dueUs);
    batch.then(() -> events.due(row.queue(), row.type(), delayMs));
  }

  /** Something is over after so many milliseconds. */
  void expires(long delayMs) {
    batch.then(() -> events.expires(delayMs));
  }

  void tellEnd(RunRow row, RunStatus status, @Nullable Payload output) {
    RunId parent = row.parent();
    String parentStep = row.parentStep();
    if (parent != null && parentStep != null && !row.isDetached()) {
      batch.post(
          status == RunStatus.COMPLETED
              ? RunMessage.completed(parent, parentStep, row.runId(), output)
              : RunMessage.failed(parent, parentStep, row.runId(), why(row, status)));
      batch.then(() -> events.messages(parent));
    }
    batch.then(() -> events.ended(RunBatch.end(row, status, output)));
  }

  /** What the parent's code sees; it says what became of the child. */
  private static Failure why(RunRow row, RunStatus status) {
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
    row.park(status, untilUs, steps, all);
    batch.then(() -> events.claimEnded(claim));
    if (untilUs != RunRow.NEVER) {
      long delayMs = remainingMs(row, untilUs);
      batch.then(() -> events.due(row.queue(), row.type(), delayMs));
    }
  }

  /** Rounded up: nobody wakes early. */
  static long remainingMs(RunRow row, long dueUs) {
    return Math.max(0, Math.ceilDiv(dueUs - row.nowUs(), US_PER_MS));
  }

  /** The run is given back unfinished and due after a delay. */
  void release(RunRow row, long delayMs, @Nullable Failure blockedBy) {
    Claim claim = new Claim(row.runId(), row.epoch());
    row.release(row.nowUs() + delayMs * US_PER_MS, blockedBy);
    batch.then(() -> events.claimEnded(claim));
    batch.then(() -> events.due(row.queue(), row.type(), delayMs));
  }
}
