package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.internal.run.RunEvents;
import dev.kagzi.engine.internal.run.RunRow;
import dev.kagzi.engine.internal.run.RunRow.Fence;
import dev.kagzi.engine.internal.step.StepRow;
import dev.kagzi.engine.run.CancelResult;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.ReportResult.Accepted;
import dev.kagzi.engine.run.ReportResult.ClaimLost;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepStatus;
import dev.kagzi.engine.value.WorkerId;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Decides cancels. A run whose last worker declared a time to clean up stays open: the cancel is
 * only requested. The code learns of it at a step, which records that for replays. The run ends as
 * CANCELLED when the code ends, or at the end of the clean-up time. All other runs end at once.
 */
record CancelTransitions(RunBatch batch, RunMutations mutations, RunEvents events) {
  /** In the metadata of a step's failure: the code learnt here that a cancel was requested. */
  static final String CANCEL_REQUESTED = "cancel_requested";

  private static final Failure SEEN =
      new Failure(
          ErrorCode.PRECONDITION_FAILED,
          "a cancel of the run was requested",
          true,
          0,
          "",
          "",
          Map.of(CANCEL_REQUESTED, "true"));

  private static final long US_PER_MS = 1_000;

  /** Cancels, or terminates with a failure, an open run. */
  CancelResult cancel(RunRow row, @Nullable Failure why) {
    Long cleanUpMs = row.cleanUpMs();
    if (why != null || cleanUpMs == null) {
      mutations.cancel(row, why);
      return new CancelResult(true, row.status());
    }
    long untilUs = untilUs(row, cleanUpMs);
    if (!row.isCancelRequested()) {
      row.requestCancel();
      batch.requestCancel(row);
    }
    publish(row, untilUs);
    return new CancelResult(true, row.status(), RunMutations.instant(untilUs));
  }

  private long untilUs(RunRow row, long cleanUpMs) {
    FailureContext context = batch.failureContext(row.runId());
    Long deadlineUs = context == null ? null : context.deadlineUs();
    if (row.isCancelRequested() && deadlineUs != null) {
      return deadlineUs;
    }
    long graceUs = row.nowUs() + cleanUpMs * US_PER_MS;
    return deadlineUs == null ? graceUs : Math.min(deadlineUs, graceUs);
  }

  /** Publishes the request, also for a repeated call: the events of the first call may be lost. */
  private void publish(RunRow row, long untilUs) {
    WorkerId worker = row.lockedBy();
    Claim claim = new Claim(row.runId(), row.epoch());
    if (row.status() == RunStatus.RUNNING && worker != null) {
      batch.afterCommit(() -> events.cancelRequested(worker, claim));
    } else {
      Long dueUs = row.availableUs();
      long delayMs = dueUs == null ? 0 : RunMutations.remainingMs(row, dueUs);
      batch.afterCommit(() -> events.runDue(row.queue(), row.type(), delayMs));
    }
    mutations.publishExpiry(RunMutations.remainingMs(row, untilUs));
  }

  /**
   * Records at which step the code learns of the cancel: as the final failure of that step, which a
   * replay throws again. From then on the code cleans up, so its children are cancelled now.
   */
  ReportResult seen(RunRow row, Report.CancelSeen r) {
    Fence fence = row.fence(r.claim());
    if (fence == Fence.LOST) {
      return new ClaimLost(row.status());
    }
    StepRow last = last(row, r.stepKey());
    if (last != null && last.isFinalIn(row.attempts()) && isSeen(last)) {
      return new Accepted(RunStatus.RUNNING);
    }
    if (last != null && (last.status() == StepStatus.COMPLETED || last.isFinalIn(row.attempts()))) {
      return StepTransitions.recorded(row, last);
    }
    if (fence != Fence.HELD) {
      return new ClaimLost(row.status());
    }
    if (!row.isCancelRequested()) {
      return new ReportResult.Refused(
          Refusal.invalid(
              "cancel_seen", "step " + r.stepKey(), "a run whose cancel was requested"));
    }
    batch.add(seenRow(row, r, last));
    batch.childCancels().ofScope(row.runId(), r.scope(), r.stepKey());
    row.recordProgress();
    return new Accepted(RunStatus.RUNNING);
  }

  private @Nullable StepRow last(RunRow row, String stepKey) {
    List<StepRow> attempts = batch.attempts(row.runId(), stepKey);
    return attempts.isEmpty() ? null : attempts.getLast();
  }

  /**
   * A step has failed for good. If it is a group of branches that ended by the cancel, the code
   * around it learns of the cancel there.
   */
  static void groupFailed(RunBatch batch, RunRow row, Report.StepFailed r) {
    if (row.isCancelRequested() && r.failure().metadata().containsKey(CANCEL_REQUESTED)) {
      String scope = r.stepKey().substring(0, r.stepKey().lastIndexOf('/') + 1);
      batch.childCancels().ofScope(row.runId(), scope, r.stepKey());
    }
  }

  private static boolean isSeen(StepRow step) {
    Failure failure = step.failure();
    return failure != null && failure.metadata().containsKey(CANCEL_REQUESTED);
  }

  private static StepRow seenRow(RunRow row, Report.CancelSeen r, @Nullable StepRow last) {
    if (last == null) {
      return seen(row, r, 1, r.kind()).row();
    }
    if (last.status() == StepStatus.FAILED) {
      return seen(row, r, last.attempt() + 1, last.kind()).row();
    }
    return seen(row, r, last.attempt(), last.kind()).child(last.child()).dueUs(last.dueUs()).row();
  }

  private static StepRowBuilder seen(RunRow row, Report.CancelSeen r, int attempt, StepKind kind) {
    return StepTransitions.step(row, r.claim(), r.stepKey(), attempt, kind, StepStatus.FAILED)
        .failure(SEEN)
        .isFinal();
  }

  /**
   * Ends a run as CANCELLED because its code has ended; keeps the failure of the code, if it has
   * one.
   */
  ReportResult finish(RunRow row, @Nullable Failure why) {
    boolean ownFailure = why != null && !why.metadata().containsKey(CANCEL_REQUESTED);
    mutations.finish(row, RunStatus.CANCELLED, ownFailure ? why : null, null);
    batch.childCancels().ofRun(row.runId(), null);
    return new Accepted(RunStatus.CANCELLED);
  }

  /** Whether the run has ended after a cancel was requested, other than by a terminate. */
  static boolean hasEnded(RunRow row) {
    return row.isCancelRequested() && row.status() == RunStatus.CANCELLED;
  }

  /**
   * Ends a run whose code has not finished its clean-up: the time is over, or its workers crash.
   */
  void end(RunRow row, Failure why) {
    mutations.endCleanUp(row, why);
  }

  static Failure unfinished(long deadlineUs) {
    return new Failure(
        ErrorCode.TIMEOUT,
        "the run was cancelled, and its code had not cleaned up by "
            + RunMutations.instant(deadlineUs).truncatedTo(ChronoUnit.MILLIS),
        false,
        0,
        "",
        "",
        Map.of("kind", "TIMEOUT"));
  }
}
