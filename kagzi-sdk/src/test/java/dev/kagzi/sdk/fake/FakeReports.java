package dev.kagzi.sdk.fake;

import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.RetryPolicy;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.WorkflowStatus;

/** The fake server's answers to reports. Called under the state's lock. */
final class FakeReports {
  private static final int PAYLOAD_BYTES_MAX = 2 << 20;

  private FakeReports() {}

  static ReportResult answer(FakeRun run, ReportItem item) {
    if (run.deleted) {
      return refused(ErrorCode.ERROR_CODE_NOT_FOUND, "run: not found");
    }
    if (run.epoch != item.getEpoch() || run.workerId.isEmpty()) {
      return ReportResult.newBuilder()
          .setClaimLost(ReportResult.ClaimLost.newBuilder().setStatus(run.status))
          .build();
    }
    return switch (item.getWhatCase()) {
      case STEP_STARTED -> started(run, item.getStepStarted());
      case STEP_DONE -> done(run, item.getStepDone());
      case STEP_FAILED -> failed(run, item.getStepFailed());
      case SLEEP -> sleep(run, item.getSleep());
      case WORKFLOW_DONE -> {
        run.output = item.getWorkflowDone().getOutput();
        run.finish(WorkflowStatus.WORKFLOW_STATUS_COMPLETED);
        yield accepted(run);
      }
      case WORKFLOW_FAILED -> workflowFailed(run, item.getWorkflowFailed().getError());
      case RELEASED -> released(run, item.getReleased());
      case CHILD_STARTED -> childStarted(run, item.getChildStarted());
      case AWAITED -> awaited(run, item.getAwaited());
      case RECEIVE, RECEIVES_STOPPED -> refused("signals: the fake server has none");
      case VALUES_PUBLISHED -> refused("published values: the fake server has none");
      case CALLBACK -> refused("callbacks: the fake server has none");
      case CONTINUE_AS_NEW -> refused("continue_as_new: the fake server starts no successors");
      case CANCEL_SEEN -> refused("cancel requests: the fake server has none");
      case WHAT_NOT_SET -> throw new IllegalArgumentException("empty item");
    };
  }

  private static ReportResult accepted(FakeRun run) {
    return ReportResult.newBuilder()
        .setAccepted(ReportResult.Accepted.newBuilder().setStatus(run.status))
        .build();
  }

  /** Children start and never end. */
  private static ReportResult childStarted(FakeRun run, ReportItem.ChildStarted child) {
    if (isLarge(child.getStart().getInput())) {
      return refused("input: too large");
    }
    String childRunId = run.id() + " " + child.getStepKey();
    run.steps.put(
        child.getStepKey(),
        RecordedStep.newBuilder()
            .setStepKey(child.getStepKey())
            .setAttempt(child.getAttempt())
            .setKind(StepKind.STEP_KIND_CHILD_WORKFLOW)
            .setChildRunId(childRunId)
            .setOpen(true)
            .build());
    return ReportResult.newBuilder()
        .setAccepted(
            ReportResult.Accepted.newBuilder().setStatus(run.status).setChildRunId(childRunId))
        .build();
  }

  private static boolean isLarge(Payload payload) {
    return payload.getData().size() > PAYLOAD_BYTES_MAX;
  }

  private static ReportResult refused(String why) {
    return refused(ErrorCode.ERROR_CODE_INVALID_ARGUMENT, why);
  }

  private static ReportResult refused(ErrorCode code, String why) {
    return ReportResult.newBuilder()
        .setRefused(ErrorDetail.newBuilder().setCode(code).setMessage(why))
        .build();
  }

  private static ReportResult started(FakeRun run, ReportItem.StepStarted started) {
    if (isLarge(started.getProgress())) {
      return refused("progress: too large");
    }
    run.startedSteps.add(started.getStepKey());
    run.steps.putIfAbsent(
        started.getStepKey(),
        RecordedStep.newBuilder()
            .setStepKey(started.getStepKey())
            .setAttempt(started.getAttempt())
            .setKind(started.getKind())
            .setOpen(true)
            .build());
    return accepted(run);
  }

  private static ReportResult done(FakeRun run, ReportItem.StepDone done) {
    RecordedStep before = run.steps.get(done.getStepKey());
    if (before != null && before.hasOutput()) {
      return ReportResult.newBuilder().setAlreadyRecorded(before).build();
    }
    if (isLarge(done.getOutput())) {
      return refused("output: too large");
    }
    run.steps.put(
        done.getStepKey(),
        RecordedStep.newBuilder()
            .setStepKey(done.getStepKey())
            .setAttempt(done.getAttempt())
            .setKind(done.getKind())
            .setOutput(done.getOutput())
            .build());
    return accepted(run);
  }

  private static ReportResult failed(FakeRun run, ReportItem.StepFailed failed) {
    if (isLarge(failed.getProgress())) {
      return refused("progress: too large");
    }
    RetryPolicy policy =
        failed.hasRetryPolicy()
            ? failed.getRetryPolicy()
            : run.start.hasRetryPolicy()
                ? run.start.getRetryPolicy()
                : RetryPolicy.newBuilder().setMaximumAttempts(3).setInitialIntervalMs(10).build();
    ErrorDetail error = failed.getError();
    RecordedStep.Builder step =
        RecordedStep.newBuilder()
            .setStepKey(failed.getStepKey())
            .setAttempt(failed.getAttempt())
            .setKind(StepKind.STEP_KIND_FUNCTION);
    if (error.getNonRetryable() || failed.getAttempt() == policy.getMaximumAttempts()) {
      run.steps.put(failed.getStepKey(), step.setFinalFailure(error).build());
      return ReportResult.newBuilder()
          .setFinalFailure(ReportResult.FinalFailure.getDefaultInstance())
          .build();
    }
    long delayMs =
        error.getRetryAfterMs() > 0 ? error.getRetryAfterMs() : policy.getInitialIntervalMs();
    run.steps.put(
        failed.getStepKey(),
        step.setRetry(RecordedStep.Retry.newBuilder().setError(error)).build());
    boolean kept = delayMs < 1_000 || failed.getKeepClaim();
    if (!kept) {
      run.giveBack(WorkflowStatus.WORKFLOW_STATUS_PENDING, delayMs);
    }
    return ReportResult.newBuilder()
        .setRetryScheduled(
            ReportResult.RetryScheduled.newBuilder()
                .setNextAttempt(failed.getAttempt() + 1)
                .setDelayMs(delayMs)
                .setClaimKept(kept))
        .build();
  }

  private static ReportResult sleep(FakeRun run, ReportItem.SleepStarted sleep) {
    long now = System.nanoTime();
    long durationMs =
        sleep.hasUntil()
            ? sleep.getUntil().getSeconds() * 1_000 - System.currentTimeMillis()
            : sleep.getDurationMs();
    long wake =
        run.wakeNanos.computeIfAbsent(sleep.getStepKey(), key -> now + durationMs * 1_000_000L);
    long leftMs = Math.max(0, (wake - now) / 1_000_000L);
    boolean kept = leftMs < 1_000 || sleep.getKeepClaim();
    run.steps.put(
        sleep.getStepKey(),
        RecordedStep.newBuilder()
            .setStepKey(sleep.getStepKey())
            .setKind(StepKind.STEP_KIND_SLEEP)
            .setSleepsMs(leftMs)
            .build());
    if (!kept) {
      run.giveBack(WorkflowStatus.WORKFLOW_STATUS_SLEEPING, leftMs);
    }
    return ReportResult.newBuilder()
        .setSleeping(ReportResult.Sleeping.newBuilder().setRemainingMs(leftMs).setClaimKept(kept))
        .build();
  }

  private static ReportResult awaited(FakeRun run, ReportItem.Awaited awaited) {
    if (!awaited.getKeepClaim()) {
      run.giveBack(WorkflowStatus.WORKFLOW_STATUS_SLEEPING, awaited.getDurationMs());
    }
    return ReportResult.newBuilder()
        .setAwaited(ReportResult.AwaitedSteps.newBuilder().setClaimKept(awaited.getKeepClaim()))
        .build();
  }

  private static ReportResult workflowFailed(FakeRun run, ErrorDetail error) {
    boolean again =
        run.start.hasRetryPolicy()
            && !error.getNonRetryable()
            && run.attempt < run.start.getRetryPolicy().getMaximumAttempts();
    if (!again) {
      run.error = error;
      run.finish(WorkflowStatus.WORKFLOW_STATUS_FAILED);
      return accepted(run);
    }
    run.attempt++;
    run.steps.values().removeIf(step -> step.hasFinalFailure());
    run.giveBack(WorkflowStatus.WORKFLOW_STATUS_PENDING, 1);
    return ReportResult.newBuilder()
        .setRetryScheduled(ReportResult.RetryScheduled.newBuilder().setDelayMs(1))
        .build();
  }

  private static ReportResult released(FakeRun run, ReportItem.Released released) {
    run.releasedDelaysMs.add(released.getDelayMs());
    run.blockedBy = released.hasBlockedBy() ? released.getBlockedBy() : null;
    run.giveBack(WorkflowStatus.WORKFLOW_STATUS_PENDING, released.getDelayMs());
    return accepted(run);
  }
}
