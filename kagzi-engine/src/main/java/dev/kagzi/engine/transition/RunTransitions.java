package dev.kagzi.engine.transition;

import dev.kagzi.engine.retry.RetryDecision;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.retry.RetryPolicyJson;
import dev.kagzi.engine.run.CancelResult;
import dev.kagzi.engine.run.CancelRun;
import dev.kagzi.engine.run.ResumeResult;
import dev.kagzi.engine.run.ResumeRun;
import dev.kagzi.engine.run.RunEvents;
import dev.kagzi.engine.run.RunRow;
import dev.kagzi.engine.run.RunRow.Fence;
import dev.kagzi.engine.transition.ReportResult.Accepted;
import dev.kagzi.engine.transition.ReportResult.ClaimLost;
import dev.kagzi.engine.transition.ReportResult.RetryScheduled;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.TimeText;
import dev.kagzi.engine.value.WorkerId;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Decides what becomes of runs: their end, their waiting, and what others do to them. */
final class RunTransitions {
  private static final long US_PER_MS = 1_000;

  private final RunBatch batch;
  private final TransitionRules rules;
  private final RunMutations moves;
  private final RunEvents events;
  private final RandomGenerator random;

  RunTransitions(
      RunBatch batch,
      TransitionRules rules,
      RunMutations moves,
      RunEvents events,
      RandomGenerator random) {
    this.batch = batch;
    this.rules = rules;
    this.moves = moves;
    this.events = events;
    this.random = random;
  }

  ReportResult done(RunRow row, Report.Done r, @Nullable Caller caller) {
    return switch (fenceOfEnd(row, r.claim(), caller)) {
      case HELD -> {
        if (r.openSteps()) {
          batch.closeStepsOfCompleted(row.runId());
        }
        moves.end(row, RunStatus.COMPLETED, null, r.output());
        yield new Accepted(RunStatus.COMPLETED);
      }
      case ENDED_BY_ITSELF ->
          row.status() == RunStatus.COMPLETED
                  && (caller == null || batch.storedEnd(row).hasOutput(r.output()))
              ? new Accepted(RunStatus.COMPLETED)
              : new ClaimLost(row.status());
      case LOST -> new ClaimLost(row.status());
    };
  }

  ReportResult failed(RunRow row, Report.Failed r, @Nullable Caller caller) {
    return switch (fenceOfEnd(row, r.claim(), caller)) {
      case HELD -> failOrRetry(row, r.failure());
      case ENDED_BY_ITSELF ->
          caller == null || r.failure().equals(batch.storedEnd(row).failure())
              ? failedBefore(row, r.claim())
              : new ClaimLost(row.status());
      case LOST -> new ClaimLost(row.status());
    };
  }

  private static Fence fenceOfEnd(RunRow row, Claim claim, @Nullable Caller caller) {
    return caller == null ? row.fence(claim) : caller.fenceOfEnd(row, claim);
  }

  /** The start set a policy: then the run is tried again, unless it has begun to undo its work. */
  private ReportResult failOrRetry(RunRow row, Failure why) {
    RetryPolicy policy = RetryPolicyJson.decode(row.retryPolicy());
    FailureContext news = batch.news(row.runId());
    if (policy != null
        && (news == null || !hasCompensated(row, news))
        && policy.after(row.attempts(), why, random) instanceof RetryDecision.RetryAfter retry) {
      long dueUs = row.nowUs() + retry.delayMs() * US_PER_MS;
      moves.retry(row, why, dueUs);
      return new RetryScheduled(row.attempts(), retry.delayMs(), instant(dueUs), false);
    }
    moves.end(row, RunStatus.FAILED, why, null);
    moves.handle(row, RunStatus.FAILED, why);
    return new Accepted(RunStatus.FAILED);
  }

  /**
   * The last thing that was undone is often reported together with the run's failure: what this
   * batch is about to store counts as much as what is stored.
   */
  private boolean hasCompensated(RunRow row, FailureContext news) {
    Long seenUs = news.seenUs();
    String seenStep = news.seenStep();
    return news.compensated()
        || (seenUs != null && seenStep != null && batch.hasAddedSince(row, seenUs, seenStep));
  }

  /** Sent again: what the claim ended with was its failure. */
  private static ReportResult failedBefore(RunRow row, Claim claim) {
    boolean claimedSince = claim.epoch() != Claim.ANY && row.epoch() > claim.epoch();
    if (row.status() == RunStatus.FAILED && !claimedSince) {
      return new Accepted(RunStatus.FAILED);
    }
    boolean retried = row.attempts() > 1 && row.retryPolicy() != null;
    if (retried && (claimedSince || row.status() == RunStatus.PENDING)) {
      Long dueUs = row.availableUs();
      long atUs = claimedSince || dueUs == null ? row.nowUs() : dueUs;
      return new RetryScheduled(
          row.attempts(), RunMutations.remainingMs(row, atUs), instant(atUs), false);
    }
    return new ClaimLost(row.status());
  }

  private static Instant instant(long us) {
    return Instant.EPOCH.plus(us, ChronoUnit.MICROS);
  }

  ReportResult released(RunRow row, Report.Released r) {
    return switch (row.fence(r.claim())) {
      case HELD -> {
        long delayMs = Math.max(0, r.delayMs());
        moves.release(row, delayMs, r.blockedBy());
        yield new Accepted(RunStatus.PENDING);
      }
      case ENDED_BY_ITSELF -> new Accepted(RunStatus.PENDING);
      case LOST -> new ClaimLost(row.status());
    };
  }

  void cancel(CancelRun write) {
    RunRow row = batch.row(write.runId());
    if (row == null || !row.queue().namespace().equals(write.namespace())) {
      write.refuse(Refusal.notFound("run", write.runId()));
      return;
    }
    if (row.status().isFinal()) {
      CancelResult before = write.answerBefore();
      boolean own = before != null && before.cancelled() && row.status() == before.status();
      if (own) {
        moves.tellEnd(row, row.status(), null);
      }
      write.answer(new CancelResult(own || isSame(write, row), row.status()));
      return;
    }
    moves.cancel(row, write.why());
    write.answer(new CancelResult(true, write.end()));
  }

  /** Whether the run has ended by a call like this one: the call was sent again. */
  private boolean isSame(CancelRun write, RunRow row) {
    Failure why = write.why();
    if (why == null) {
      return row.status() == RunStatus.CANCELLED;
    }
    ResumeContext news = batch.resumeNews(row.runId());
    return row.status() == RunStatus.FAILED
        && news != null
        && why.message().equals(news.terminatedWith());
  }

  void resume(ResumeRun write) {
    RunRow row = batch.row(write.runId());
    if (row == null || !row.queue().namespace().equals(write.namespace())) {
      write.refuse(Refusal.notFound("run", write.runId()));
      return;
    }
    // Who asks in the very batch that ends the run has not seen its end: he came before it.
    boolean failed =
        (row.status() == RunStatus.FAILED || row.status() == RunStatus.TIMED_OUT)
            && row.hasEndedBefore();
    if (!write.isAbout(row.attempts()) || !failed) {
      write.answer(new ResumeResult(write.hasHappened(row.attempts()), row.status()));
      return;
    }
    ResumeContext news = batch.resumeNews(row.runId());
    String obstacle = news == null ? null : obstacle(news, write.isForced());
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
    batch.reopen(row.runId());
    if (!write.isForced() || (news != null && news.terminated())) {
      batch.carryOver(row);
    }
    batch.then(() -> events.due(row.queue(), row.type(), 0));
    write.answer(new ResumeResult(true, RunStatus.PENDING));
  }

  /** Why a run that has failed cannot, or should not, go on; null: it can. */
  private static @Nullable String obstacle(ResumeContext news, boolean force) {
    if (news.successor() != null) {
      return "run " + news.successor() + " with the same external_id is active (expected: none)";
    }
    if (force) {
      return null;
    }
    if (news.terminated()) {
      return "it was terminated (expected: a run that failed by itself; with force it goes on)";
    }
    return news.undoneBy() == null || news.hasMore()
        ? null
        : ("it caught the failure of step %s, went on with step %s and then ended with that"
                + " failure, so that nothing is left to do (expected: a failed step that no other"
                + " follows; retry makes a new run, force executes failed steps again although"
                + " their failures were caught)")
            .formatted(news.failedStep(), news.undoneBy());
  }

  void expire(ExpireRun write) {
    RunRow row = batch.row(write.runId());
    FailureContext news = batch.news(write.runId());
    Long deadlineUs = news == null ? null : news.deadlineUs();
    if (row == null
        || row.status().isFinal()
        || news == null
        || deadlineUs == null
        || deadlineUs > row.nowUs()) {
      write.answer(Boolean.TRUE.equals(write.answerBefore()));
      return;
    }
    moves.fail(row, RunStatus.TIMED_OUT, timedOut(news));
    write.answer(true);
  }

  private static Failure timedOut(FailureContext news) {
    Long deadlineUs = news.deadlineUs();
    Long timeoutMs = news.executionTimeoutMs();
    String deadline =
        deadlineUs == null ? "" : instant(deadlineUs).truncatedTo(ChronoUnit.MILLIS).toString();
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
    moves.fail(row, RunStatus.FAILED, crashed(row, row.crashes()));
    write.answer(true);
  }

  private Failure crashed(RunRow row, int crashes) {
    FailureContext news = batch.news(row.runId());
    String last = news == null ? null : news.lastStep();
    return new Failure(
        ErrorCode.INTERNAL,
        "run was taken over "
            + crashes
            + " times in a row without recording a step: each of its workers ended or went silent"
            + " while it executed the run"
            + (last == null ? "" : ", behind step " + last),
        true,
        0,
        "",
        "",
        Map.of("kind", "UNKNOWN", "crashes", Integer.toString(crashes)));
  }

  void free(ReleaseClaim write) {
    RunRow row = batch.row(write.runId());
    if (row == null || row.fence(write.claim()) != Fence.HELD) {
      write.answer(Boolean.TRUE.equals(write.answerBefore()));
      return;
    }
    WorkerId worker = row.lockedBy();
    long delayMs = 0;
    if (write.cause() == ReleaseClaim.Cause.WORKER_GONE
        && rules.crashes().isOver(row.crashes() + 1)) {
      row.countCrash();
      moves.fail(row, RunStatus.FAILED, crashed(row, row.crashes()));
      write.answer(true);
      return;
    }
    if (write.cause() == ReleaseClaim.Cause.WORKER_GONE) {
      delayMs = rules.crashes().delayMs(row.crashes(), random);
      row.takeFromDeadWorker(row.nowUs() + delayMs * US_PER_MS);
    } else if (write.cause() == ReleaseClaim.Cause.WORKER_LEFT) {
      row.takeFromAbsentWorker(row.nowUs());
    } else {
      row.release(row.nowUs(), null);
    }
    long waitMs = delayMs;
    batch.then(() -> events.claimEnded(write.claim()));
    if (worker != null) {
      batch.then(() -> events.stop(worker, write.claim(), row.status()));
    }
    batch.then(() -> events.due(row.queue(), row.type(), waitMs));
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
