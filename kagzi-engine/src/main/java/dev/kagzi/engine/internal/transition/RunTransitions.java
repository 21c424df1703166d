package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.config.TransitionRules;
import dev.kagzi.engine.internal.retry.RetryDecision;
import dev.kagzi.engine.internal.retry.RetryPolicyJson;
import dev.kagzi.engine.internal.run.CancelRun;
import dev.kagzi.engine.internal.run.ExpireRun;
import dev.kagzi.engine.internal.run.FailCrashedRun;
import dev.kagzi.engine.internal.run.RenewLease;
import dev.kagzi.engine.internal.run.ResumeRun;
import dev.kagzi.engine.internal.run.RunEvents;
import dev.kagzi.engine.internal.run.RunRow;
import dev.kagzi.engine.internal.run.RunRow.Fence;
import dev.kagzi.engine.internal.run.TakeClaim;
import dev.kagzi.engine.internal.run.TakeReason;
import dev.kagzi.engine.internal.value.TimeText;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.Caller;
import dev.kagzi.engine.run.CancelResult;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.ReportResult.Accepted;
import dev.kagzi.engine.run.ReportResult.ClaimLost;
import dev.kagzi.engine.run.ReportResult.RetryScheduled;
import dev.kagzi.engine.run.ResumeResult;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunStatus;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Decides reports and calls about whole runs. */
record RunTransitions(
    RunBatch batch,
    TransitionRules rules,
    RunMutations mutations,
    CancelTransitions cancels,
    RunEvents events,
    RandomGenerator random) {
  private static final long US_PER_MS = 1_000;

  ReportResult done(RunRow row, Report.Done r, @Nullable Caller caller) {
    return switch (row.fenceOfCompletion(r.claim(), caller)) {
      case HELD -> {
        if (row.isCancelRequested()) {
          yield cancels.finish(row, null);
        }
        if (r.openSteps()) {
          batch.closeStepsOfCompleted(row.runId());
        }
        mutations.finish(row, RunStatus.COMPLETED, null, r.output());
        yield new Accepted(RunStatus.COMPLETED);
      }
      case ENDED_BY_HOLDER ->
          CancelTransitions.hasEnded(row)
              ? new Accepted(RunStatus.CANCELLED)
              : row.status() == RunStatus.COMPLETED
                      && row.continuedTo() == null
                      && (caller == null || batch.storedEnd(row).hasOutput(r.output()))
                  ? new Accepted(RunStatus.COMPLETED)
                  : new ClaimLost(row.status());
      case LOST -> new ClaimLost(row.status());
    };
  }

  ReportResult failed(RunRow row, Report.Failed r, @Nullable Caller caller) {
    return switch (row.fenceOfCompletion(r.claim(), caller)) {
      case HELD ->
          row.isCancelRequested()
              ? cancels.finish(row, r.failure())
              : failOrRetry(row, r.failure());
      case ENDED_BY_HOLDER ->
          caller == null || r.failure().equals(batch.storedEnd(row).failure())
              ? failedBefore(row, r.claim())
              : new ClaimLost(row.status());
      case LOST -> new ClaimLost(row.status());
    };
  }

  /**
   * Retries the run by the policy of its start. Fails it if there is no policy, if the policy gives
   * up, or if the run has begun to undo its work.
   */
  private ReportResult failOrRetry(RunRow row, Failure why) {
    RetryPolicy policy = RetryPolicyJson.decode(row.retryPolicy());
    FailureContext context = batch.failureContext(row.runId());
    if (policy != null
        && (context == null || !hasCompensated(row, context))
        && RetryDecision.of(policy, row.attempts(), why, random)
            instanceof RetryDecision.RetryAfter retry) {
      long dueUs = row.nowUs() + retry.delayMs() * US_PER_MS;
      mutations.retry(row, why, dueUs);
      return new RetryScheduled(
          row.attempts(), retry.delayMs(), RunMutations.instant(dueUs), false);
    }
    mutations.finish(row, RunStatus.FAILED, why, null);
    mutations.startFailureHandlers(row, RunStatus.FAILED, why);
    return new Accepted(RunStatus.FAILED);
  }

  /**
   * The last compensating step is often reported together with the run's failure, so the steps of
   * this batch count as well as the stored ones.
   */
  private boolean hasCompensated(RunRow row, FailureContext context) {
    Long seenUs = context.seenUs();
    String seenStep = context.seenStep();
    return context.compensated()
        || (seenUs != null && seenStep != null && batch.hasAddedSince(row, seenUs, seenStep));
  }

  private static ReportResult failedBefore(RunRow row, Claim claim) {
    if (CancelTransitions.hasEnded(row)) {
      return new Accepted(RunStatus.CANCELLED);
    }
    boolean claimedSince = claim.epoch() != Claim.ANY && row.epoch() > claim.epoch();
    if (row.status() == RunStatus.FAILED && !claimedSince) {
      return new Accepted(RunStatus.FAILED);
    }
    boolean retried = row.attempts() > 1 && row.retryPolicy() != null;
    if (retried && (claimedSince || row.status() == RunStatus.PENDING)) {
      Long dueUs = row.availableUs();
      long atUs = claimedSince || dueUs == null ? row.nowUs() : dueUs;
      return new RetryScheduled(
          row.attempts(), RunMutations.remainingMs(row, atUs), RunMutations.instant(atUs), false);
    }
    return new ClaimLost(row.status());
  }

  ReportResult released(RunRow row, Report.Released r) {
    return switch (row.fence(r.claim())) {
      case HELD -> {
        long delayMs = Math.max(0, r.delayMs());
        mutations.release(row, delayMs, r.blockedBy());
        yield new Accepted(RunStatus.PENDING);
      }
      case ENDED_BY_HOLDER -> new Accepted(RunStatus.PENDING);
      case LOST -> new ClaimLost(row.status());
    };
  }

  void cancel(CancelRun write) {
    RunRow row = batch.row(write.runId());
    if (row == null || !row.queue().namespace().equals(write.namespace())) {
      write.refuse(Refusal.notFound("run", write.runId(), write.namespace()));
      return;
    }
    Refusal continued = batch.chains().continued(row, "the last run of the chain; try again");
    if (continued != null) {
      write.refuse(continued);
      return;
    }
    if (row.status().isFinal()) {
      CancelResult before = write.answerBefore();
      boolean own = before != null && before.cancelled() && row.status() == before.status();
      if (own) {
        mutations.notifyOfEnd(row, row.status(), null);
      }
      write.answer(new CancelResult(own || isRepeated(write, row), row.status()));
      return;
    }
    write.answer(cancels.cancel(row, write.why()));
  }

  /** Whether an equal call may already have ended the run. */
  private boolean isRepeated(CancelRun write, RunRow row) {
    Failure why = write.why();
    if (why == null) {
      return row.status() == RunStatus.CANCELLED;
    }
    ResumeContext context = batch.resumeContext(row.runId());
    return row.status() == RunStatus.FAILED
        && context != null
        && why.message().equals(context.terminatedWith());
  }

  void resume(ResumeRun write) {
    RunRow row = batch.row(write.runId());
    if (row == null || !row.queue().namespace().equals(write.namespace())) {
      write.refuse(Refusal.notFound("run", write.runId(), write.namespace()));
      return;
    }
    Refusal continued = batch.chains().continued(row, "a run that failed or timed out");
    if (continued != null) {
      write.refuse(continued);
      return;
    }
    // A resume in the same batch as the run's end was sent before its caller could see that end, so
    // it does not resume the run.
    boolean failed =
        (row.status() == RunStatus.FAILED || row.status() == RunStatus.TIMED_OUT)
            && row.hadEndedBefore();
    if (!write.concernsAttempt(row.attempts()) || !failed) {
      write.answer(new ResumeResult(write.hasResumed(row.attempts()), row.status()));
      return;
    }
    ResumeContext context = batch.resumeContext(row.runId());
    if (context != null && context.isPurged()) {
      write.refuse(Refusal.notFound("run", write.runId(), write.namespace()));
      return;
    }
    String obstacle = context == null ? null : resumeObstacle(context, write.isForced());
    if (obstacle != null) {
      write.refuse(
          Refusal.of(
              Refusal.Reason.FAILED_PRECONDITION,
              "run",
              row.runId().toString(),
              "run " + row.runId() + " cannot be resumed: " + obstacle));
      return;
    }
    row.resume();
    boolean terminated = context != null && context.terminated();
    batch.resumed().add(row, terminated || !write.isForced());
    batch.afterCommit(() -> events.runDue(row.queue(), row.type(), 0));
    write.answer(new ResumeResult(true, RunStatus.PENDING));
  }

  /** Why a failed run cannot be resumed; null if it can. */
  private static @Nullable String resumeObstacle(ResumeContext context, boolean force) {
    if (context.successor() != null) {
      return "run " + context.successor() + " with the same external_id is active (expected: none)";
    }
    if (force) {
      return null;
    }
    if (context.terminated()) {
      return "it was terminated (expected: a run that failed by itself; use force to resume it anyway)";
    }
    return context.undoneBy() == null || context.hasMore()
        ? null
        : ("it caught the failure of step %s, went on with step %s and then ended with that"
                + " failure, so that nothing is left to do (expected: a failed step that no other"
                + " follows; retry makes a new run, force executes failed steps again although"
                + " their failures were caught)")
            .formatted(context.failedStep(), context.undoneBy());
  }

  void expire(ExpireRun write) {
    RunRow row = batch.row(write.runId());
    FailureContext context = batch.failureContext(write.runId());
    Long deadlineUs = context == null ? null : context.deadlineUs();
    if (row == null
        || row.status().isFinal()
        || context == null
        || deadlineUs == null
        || deadlineUs > row.nowUs()) {
      write.answer(Boolean.TRUE.equals(write.answerBefore()));
      return;
    }
    if (row.isCancelRequested()) {
      cancels.end(row, CancelTransitions.unfinished(deadlineUs));
    } else {
      mutations.fail(row, RunStatus.TIMED_OUT, timedOut(context));
    }
    write.answer(true);
  }

  private static Failure timedOut(FailureContext context) {
    Long deadlineUs = context.deadlineUs();
    Long timeoutMs = context.executionTimeoutMs();
    String deadline =
        deadlineUs == null
            ? ""
            : RunMutations.instant(deadlineUs).truncatedTo(ChronoUnit.MILLIS).toString();
    String time =
        timeoutMs == null
            ? "by its deadline " + deadline
            : "within its time of %s, by %s".formatted(TimeText.of(timeoutMs), deadline);
    return new Failure(
        ErrorCode.TIMEOUT, "run did not end " + time, false, 0, "", "", Map.of("kind", "TIMEOUT"));
  }

  void failCrashed(FailCrashedRun write) {
    RunRow row = batch.row(write.runId());
    if (row == null
        || row.status() != RunStatus.PENDING
        || !rules.crashes().isOver(row.crashes())) {
      write.answer(Boolean.TRUE.equals(write.answerBefore()));
      return;
    }
    failCrashed(row, crashed(row, row.crashes()));
    write.answer(true);
  }

  private void failCrashed(RunRow row, Failure why) {
    if (row.isCancelRequested()) {
      cancels.end(row, why);
    } else {
      mutations.fail(row, RunStatus.FAILED, why);
    }
  }

  private Failure crashed(RunRow row, int crashes) {
    FailureContext context = batch.failureContext(row.runId());
    String last = context == null ? null : context.lastStep();
    return new Failure(
        ErrorCode.INTERNAL,
        "run was taken over "
            + crashes
            + " times in a row without recording a step: each of its workers crashed or became stale"
            + " while it executed the run"
            + (last == null ? "" : ", after step " + last),
        true,
        0,
        "",
        "",
        Map.of("kind", "UNKNOWN", "crashes", Integer.toString(crashes)));
  }

  void takeClaim(TakeClaim write) {
    RunRow row = batch.row(write.runId());
    if (row == null || row.fence(write.claim()) != Fence.HELD) {
      write.answer(Boolean.TRUE.equals(write.answerBefore()));
      return;
    }
    TakeReason reason = write.reason();
    if (!reason.isCrash()) {
      mutations.take(row, reason, 0);
    } else if (rules.crashes().isOver(row.crashes() + 1)) {
      row.countCrash();
      mutations.publishLost(row, reason);
      failCrashed(row, crashed(row, row.crashes()));
    } else {
      mutations.take(row, reason, rules.crashes().delayMs(row.crashes(), random));
    }
    write.answer(true);
  }

  void renew(RenewLease write) {
    RunRow row = batch.row(write.runId());
    boolean held = row != null && row.fence(write.claim()) == Fence.HELD;
    if (row != null && held) {
      long leaseMs = row.leaseMs() == null ? write.leaseMs() : row.leaseMs();
      row.renew(write.worker(), row.nowUs() + leaseMs * US_PER_MS);
    }
    write.answer(held);
  }
}
