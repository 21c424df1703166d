package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.config.TransitionRules;
import dev.kagzi.engine.internal.retry.RetryDecision;
import dev.kagzi.engine.internal.retry.RetryPolicyJson;
import dev.kagzi.engine.internal.run.BeginStep;
import dev.kagzi.engine.internal.run.ExpireStep;
import dev.kagzi.engine.internal.run.ReportWrite;
import dev.kagzi.engine.internal.run.RunRow;
import dev.kagzi.engine.internal.run.RunRow.Fence;
import dev.kagzi.engine.internal.run.TakeReason;
import dev.kagzi.engine.internal.step.StepRow;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.BegunStep;
import dev.kagzi.engine.run.Caller;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.ReportResult.Accepted;
import dev.kagzi.engine.run.ReportResult.AlreadyRecorded;
import dev.kagzi.engine.run.ReportResult.ClaimLost;
import dev.kagzi.engine.run.ReportResult.FinalFailure;
import dev.kagzi.engine.run.ReportResult.RetryScheduled;
import dev.kagzi.engine.run.ReportResult.Sleeping;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepRef;
import dev.kagzi.engine.value.StepStatus;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

record StepTransitions(
    RunBatch batch, TransitionRules rules, RunMutations mutations, RandomGenerator random) {
  private static final long US_PER_MS = 1_000;

  ReportResult stepStarted(RunRow row, Report.StepStarted r, ReportWrite write) {
    Fence fence = row.fence(r.claim());
    // An earlier send of this batch was committed, including the later report that ended the claim.
    boolean repeated = fence == Fence.ENDED_BY_HOLDER && write.answerBefore() instanceof Accepted;
    if (fence != Fence.HELD && !repeated) {
      return new ClaimLost(row.status());
    }
    if (fence == Fence.HELD && !batch.hasAdded(row.runId(), r.stepKey(), r.attempt())) {
      batch.add(
          step(row, r.claim(), r.stepKey(), r.attempt(), r.kind(), StepStatus.RUNNING)
              .input(r.input())
              .retryPolicy(RetryPolicyJson.encode(r.policy()))
              .timeoutUs(timeoutUs(row, r.timeoutMs(), r.ranUs()))
              .ranUs(r.ranUs())
              .inputHash(r.inputHash())
              .progress(r.progress())
              .row());
    }
    return new Accepted(RunStatus.RUNNING);
  }

  private long timeoutUs(RunRow row, long ownMs, long ranUs) {
    long timeoutMs = ownMs;
    if (timeoutMs == 0) {
      timeoutMs = row.stepTimeoutMs() == null ? rules.stepTimeoutMs() : row.stepTimeoutMs();
    }
    long leftMs = Math.max(0, timeoutMs - Math.max(0, ranUs) / 1_000);
    mutations.publishExpiry(leftMs + rules.stepGraceMs());
    return row.nowUs() + leftMs * US_PER_MS;
  }

  /** Fails an attempt whose worker did not report the timeout, and takes the run from it. */
  void expire(ExpireStep write) {
    RunRow row = batch.row(write.runId());
    StepRef step = write.step();
    StepRow open = row == null ? null : openAttempt(row, step);
    if (row == null || open == null) {
      write.answer(Boolean.TRUE.equals(write.answerBefore()));
      return;
    }
    Claim claim = new Claim(row.runId(), step.epoch());
    if (row.fence(claim) != Fence.HELD) {
      // The claim is over. The row was read without its timeout, so writing it back removes the
      // timeout, and the chore does not find it again. The next claim reports the step again.
      batch.add(open);
      write.answer(false);
      return;
    }
    Failure why =
        new Failure(
            ErrorCode.TIMEOUT,
            "step " + step.stepKey() + " timed out, and its worker did not report it",
            false,
            0,
            "",
            "",
            Map.of("kind", "TIMEOUT"));
    Report.StepFailed failed =
        new Report.StepFailed(
            claim, step.stepKey(), step.attempt(), open.input(), why, null, true, 0, "", null);
    List<StepRow> attempts = batch.attempts(row.runId(), step.stepKey());
    long delayMs =
        failStep(row, failed, attempts, false) instanceof RetryScheduled retry
            ? retry.delayMs()
            : 0;
    mutations.take(row, TakeReason.STEP_HUNG, delayMs);
    write.answer(true);
  }

  private @Nullable StepRow openAttempt(RunRow row, StepRef step) {
    for (StepRow attempt : batch.attempts(row.runId(), step.stepKey())) {
      if (attempt.attempt() == step.attempt()
          && attempt.epoch() == step.epoch()
          && attempt.status() == StepStatus.RUNNING) {
        return attempt;
      }
    }
    return null;
  }

  /**
   * Checks a simple client's report: the caller must hold the claim, or have ended it itself, and a
   * step must have been begun under this claim. The last holder may also report the end of the run.
   * Returns null if the report is allowed.
   */
  @Nullable Refusal refuse(RunRow row, ReportWrite write, Caller caller) {
    Report report = write.report();
    boolean ends = report instanceof Report.Done || report instanceof Report.Failed;
    Fence fence =
        ends ? row.fenceOfCompletion(report.claim(), caller) : row.fence(report.claim(), caller);
    if (fence == Fence.LOST) {
      return row.claimLost(report.claim(), caller);
    }
    return switch (report) {
      case Report.StepDone r ->
          refuseEnd(row, r.claim(), r.stepKey(), r.attempt(), StepStatus.FAILED);
      case Report.StepFailed r ->
          refuseEnd(row, r.claim(), r.stepKey(), r.attempt(), StepStatus.COMPLETED);
      case Report.Sleep r ->
          begun(row, r.claim(), r.stepKey(), 0) == null
              ? notBegun(r.claim(), r.stepKey(), 1)
              : null;
      case Report.StepStarted ignored -> null;
      case Report.ChildStarted ignored -> null;
      case Report.Awaited ignored -> null;
      case Report.Receive ignored -> null;
      case Report.ReceivesStopped ignored -> null;
      case Report.ValuesPublished ignored -> null;
      case Report.ContinueAsNew ignored -> null;
      case Report.CancelSeen ignored -> null;
      case Report.Done ignored -> null;
      case Report.Failed ignored -> null;
      case Report.Released ignored -> null;
    };
  }

  private @Nullable Refusal refuseEnd(
      RunRow row, Claim claim, String stepKey, int attempt, StepStatus other) {
    StepRow begun = begun(row, claim, stepKey, attempt);
    if (begun == null) {
      return notBegun(claim, stepKey, attempt);
    }
    if (begun.kind() == StepKind.SLEEP) {
      return Refusal.invalid(
          "step_id",
          "step " + stepKey + " of kind SLEEP",
          "a step of another kind; a sleep ends by itself");
    }
    return begun.status() != other
        ? null
        : Refusal.of(
            Refusal.Code.STEP_ENDED,
            "step",
            new StepRef(row.runId(), stepKey, attempt, claim.epoch()).toString(),
            "step " + stepKey + " is " + other + " (expected: RUNNING)");
  }

  /** The attempt that was begun under the claim (attempt 0: any); null if there is none. */
  private @Nullable StepRow begun(RunRow row, Claim claim, String stepKey, int attempt) {
    for (StepRow each : batch.attempts(row.runId(), stepKey)) {
      if ((attempt == 0 || each.attempt() == attempt) && each.epoch() == claim.epoch()) {
        return each;
      }
    }
    return null;
  }

  private static Refusal notBegun(Claim claim, String stepKey, int attempt) {
    return Refusal.invalid(
        "step_id",
        "attempt %d of step %s, epoch %d".formatted(attempt, stepKey, claim.epoch()),
        "an id that BeginStep returned with should_execute");
  }

  ReportResult stepDone(RunRow row, Report.StepDone r, ReportWrite write) {
    Fence fence = row.fence(r.claim());
    if (fence == Fence.LOST) {
      return new ClaimLost(row.status());
    }
    List<StepRow> attempts = batch.attempts(row.runId(), r.stepKey());
    for (StepRow attempt : attempts) {
      if (attempt.status() == StepStatus.COMPLETED) {
        boolean own = attempt.attempt() == r.attempt() && attempt.epoch() == epoch(row, r.claim());
        // Answer with the status at the time of the recording, not the current one. Of a callback,
        // return the recorded URL: another server may be configured to make another one.
        return own && r.kind() != StepKind.CALLBACK
            ? new Accepted(RunStatus.RUNNING)
            : recorded(row, attempt);
      }
    }
    if (fence != Fence.HELD) {
      return new ClaimLost(row.status());
    }
    if (r.attempt() > 1 && !failedBefore(attempts, r.attempt())) {
      return refusedAttempt(r.stepKey(), r.attempt());
    }
    StepRow done =
        step(row, r.claim(), r.stepKey(), r.attempt(), r.kind(), StepStatus.COMPLETED)
            .input(r.input())
            .output(r.output())
            .ranUs(r.ranUs())
            .inputHash(r.inputHash())
            .row();
    if (needsNoRead(r) && done.isPlainResult() && r.equals(write.report())) {
      batch.addWithoutRead(done, write);
    } else {
      batch.add(done);
    }
    row.recordProgress();
    return r.kind() == StepKind.CALLBACK ? recorded(row, done) : new Accepted(row.status());
  }

  /** A plain result of a first attempt: the insert itself detects an existing result. */
  static boolean needsNoRead(Report.StepDone r) {
    return r.attempt() == 1
        && r.kind() == StepKind.FUNCTION
        && r.input() == null
        && r.inputHash().isEmpty();
  }

  ReportResult stepFailed(RunRow row, Report.StepFailed r, boolean waitsInPlace) {
    Fence fence = row.fence(r.claim());
    if (fence == Fence.LOST) {
      return new ClaimLost(row.status());
    }
    List<StepRow> attempts = batch.attempts(row.runId(), r.stepKey());
    for (StepRow attempt : attempts) {
      if (attempt.status() == StepStatus.COMPLETED) {
        return recorded(row, attempt);
      }
      if (attempt.attempt() == r.attempt() && attempt.status() == StepStatus.FAILED) {
        return attempt.epoch() == epoch(row, r.claim())
            ? repeatedFailure(row, attempt, fence)
            : recorded(row, attempt);
      }
    }
    if (fence != Fence.HELD) {
      return new ClaimLost(row.status());
    }
    if (r.attempt() > 1 && !failedBefore(attempts, r.attempt())) {
      return refusedAttempt(r.stepKey(), r.attempt());
    }
    return failStep(row, r, attempts, waitsInPlace);
  }

  private ReportResult failStep(
      RunRow row, Report.StepFailed r, List<StepRow> attempts, boolean waitsInPlace) {
    RetryPolicy policy = policy(row, r, attempts);
    StepRowBuilder failed =
        step(row, r.claim(), r.stepKey(), r.attempt(), StepKind.FUNCTION, StepStatus.FAILED)
            .input(r.input())
            .failure(r.failure())
            .ranUs(r.ranUs())
            .inputHash(r.inputHash())
            .progress(r.progress());
    row.recordProgress();
    int attempt = attemptOfRunAttempt(row, r, attempts);
    return switch (RetryDecision.of(policy, attempt, r.failure(), random)) {
      case RetryDecision.GiveUp ignored -> {
        batch.add(failed.isFinal().row());
        CancelTransitions.groupFailed(batch, row, r);
        yield new FinalFailure();
      }
      case RetryDecision.RetryAfter(long delayMs) -> {
        long dueUs = row.nowUs() + delayMs * US_PER_MS;
        // The policy is stored, so that an explanation can name the number of retries.
        batch.add(failed.dueUs(dueUs).retryPolicy(RetryPolicyJson.encode(policy)).row());
        mutations.publishStepRetry(row);
        boolean kept = r.keepClaim() || (waitsInPlace && delayMs < rules.shortWaitMs());
        if (!kept) {
          mutations.park(row, RunStatus.PENDING, dueUs, List.of(), false);
        }
        yield new RetryScheduled(r.attempt() + 1, delayMs, RunMutations.instant(dueUs), kept);
      }
    };
  }

  /**
   * Returns the number of the step attempt within the current attempt of the run: the limit of a
   * retry policy applies to each attempt of the run separately.
   */
  private static int attemptOfRunAttempt(RunRow row, Report.StepFailed r, List<StepRow> attempts) {
    int before = 0;
    for (StepRow attempt : attempts) {
      if (attempt.runAttempt() == row.attempts()
          && attempt.status() == StepStatus.FAILED
          && attempt.attempt() < r.attempt()) {
        before++;
      }
    }
    return before + 1;
  }

  /**
   * Returns the first policy that is set: of the report, of the begun attempt, of the run, of the
   * server.
   */
  private RetryPolicy policy(RunRow row, Report.StepFailed r, List<StepRow> attempts) {
    if (r.policy() != null) {
      return r.policy();
    }
    for (StepRow attempt : attempts) {
      RetryPolicy stored =
          attempt.attempt() == r.attempt() ? RetryPolicyJson.decode(attempt.retryPolicy()) : null;
      if (stored != null) {
        return stored;
      }
    }
    RetryPolicy ofRun = RetryPolicyJson.decode(row.retryPolicy());
    return ofRun == null ? rules.defaultPolicy() : ofRun;
  }

  /** Answers a failure that this claim has recorded already, with the delay that is left. */
  private static ReportResult repeatedFailure(RunRow row, StepRow failed, Fence fence) {
    if (failed.isFinal()) {
      return new FinalFailure();
    }
    Long dueUs = failed.dueUs();
    return new RetryScheduled(
        failed.attempt() + 1,
        failed.remainingMs(row.nowUs()),
        RunMutations.instant(dueUs == null ? row.nowUs() : dueUs),
        fence == Fence.HELD);
  }

  ReportResult sleep(RunRow row, Report.Sleep r, boolean waitsInPlace) {
    Fence fence = row.fence(r.claim());
    if (fence == Fence.LOST) {
      return new ClaimLost(row.status());
    }
    StepRow slept = null;
    for (StepRow attempt : batch.attempts(row.runId(), r.stepKey())) {
      slept = attempt;
    }
    if (slept != null && slept.kind() != StepKind.SLEEP) {
      return new ReportResult.Refused(
          Refusal.invalid("step", r.stepKey() + " is a " + slept.kind(), "a step of kind SLEEP"));
    }
    Long begunDueUs = slept == null ? null : slept.dueUs();
    if (fence != Fence.HELD) {
      boolean own = slept != null && slept.epoch() == r.claim().epoch();
      return own && begunDueUs != null
          ? new Sleeping(RunMutations.remainingMs(row, begunDueUs), false)
          : new ClaimLost(row.status());
    }
    // The wake time is stored once, so a repeated sleep does not start again.
    long dueUs = begunDueUs == null ? dueUs(row, r) : begunDueUs;
    if (begunDueUs == null) {
      int attempt = slept == null ? 1 : slept.attempt();
      batch.add(
          step(row, r.claim(), r.stepKey(), attempt, StepKind.SLEEP, StepStatus.RUNNING)
              .dueUs(dueUs)
              .row());
      // Only a new sleep is progress. Otherwise code that crashes right after a recorded sleep
      // would reset its crash count at every replay.
      row.recordProgress();
    }
    long remainingMs = RunMutations.remainingMs(row, dueUs);
    boolean isShort = remainingMs == 0 || remainingMs < rules.shortWaitMs();
    boolean kept = r.keepClaim() || (waitsInPlace && isShort);
    if (!kept) {
      mutations.park(row, RunStatus.SLEEPING, dueUs, List.of(), false);
    }
    return new Sleeping(remainingMs, kept);
  }

  private static long dueUs(RunRow row, Report.Sleep r) {
    if (r.until() != null) {
      return ChronoUnit.MICROS.between(Instant.EPOCH, r.until());
    }
    long durationMs = r.durationMs() == null ? 0 : Math.max(0, r.durationMs());
    return row.nowUs() + durationMs * US_PER_MS;
  }

  void begin(BeginStep write) {
    RunRow row = batch.row(write.runId());
    BeginStep.Call call = write.begun();
    if (row == null || !row.queue().namespace().equals(call.namespace())) {
      write.refuse(Refusal.notFound("run", write.runId(), call.namespace()));
    } else if (row.fence(call.claim(), call.caller()) != Fence.HELD) {
      write.refuse(row.claimLost(call.claim(), call.caller()));
    } else {
      row.markSimple();
      batch.acknowledgeHandOut(row);
      begin(row, write);
    }
  }

  private void begin(RunRow row, BeginStep write) {
    BeginStep.Call call = write.begun();
    List<StepRow> attempts = batch.attempts(row.runId(), call.stepKey());
    StepRow last = attempts.isEmpty() ? null : attempts.getLast();
    if (last != null && last.kind() != call.kind()) {
      write.refuse(
          Refusal.invalid(
              "kind", call.kind(), last.kind() + ", as step " + call.stepKey() + " was begun"));
      return;
    }
    if (last != null && last.isCompleted(row.nowUs())) {
      write.answer(new BegunStep(ref(last), false, last.output()));
      return;
    }
    if (last != null && last.isFinalIn(row.attempts())) {
      write.refuse(failedPermanently(last));
      return;
    }
    // A crash is not a failure: the interrupted attempt keeps its number.
    StepRow open = last != null && last.status() == StepStatus.RUNNING ? last : null;
    int attempt = open != null ? open.attempt() : last == null ? 1 : last.attempt() + 1;
    StepRow begun =
        step(row, call.claim(), call.stepKey(), attempt, call.kind(), StepStatus.RUNNING)
            .name(call.stepKey())
            .input(call.input())
            .retryPolicy(RetryPolicyJson.encode(call.policy()))
            .dueUs(open == null ? null : open.dueUs())
            .timeoutUs(
                call.kind() == StepKind.FUNCTION ? timeoutUs(row, call.timeoutMs(), 0) : null)
            .row();
    batch.add(begun);
    write.answer(new BegunStep(ref(begun), true, null));
  }

  // The workflow code may have reacted to this failure, so the step is not executed again. The
  // message is the recorded one, so that a worker without the SDK throws the same error at replay
  // as at the first execution.
  private static Refusal failedPermanently(StepRow step) {
    String message =
        step.failure() == null
            ? "step " + step.stepKey() + " failed in attempt " + step.attempt()
            : step.failure().message();
    return Refusal.recorded(
        Refusal.Code.STEP_FAILED, "step", ref(step).toString(), message, step.failure());
  }

  private static StepRef ref(StepRow row) {
    return new StepRef(row.runId(), row.stepKey(), row.attempt(), row.epoch());
  }

  static ReportResult recorded(RunRow row, StepRow step) {
    return new AlreadyRecorded(step.recorded(row.nowUs(), row.attempts()));
  }

  static boolean failedBefore(List<StepRow> attempts, int attempt) {
    return attempts.stream()
        .anyMatch(a -> a.attempt() == attempt - 1 && a.status() == StepStatus.FAILED);
  }

  static ReportResult refusedAttempt(String stepKey, int attempt) {
    return new ReportResult.Refused(
        Refusal.invalid(
            "attempt",
            attempt + " of step " + stepKey,
            "attempt " + (attempt - 1) + " recorded as failed"));
  }

  static int epoch(RunRow row, Claim claim) {
    return claim.epoch() == Claim.ANY ? row.epoch() : claim.epoch();
  }

  static StepRowBuilder step(
      RunRow row, Claim claim, String key, int attempt, StepKind kind, StepStatus status) {
    return new StepRowBuilder(row, epoch(row, claim), key, attempt, kind, status);
  }
}
