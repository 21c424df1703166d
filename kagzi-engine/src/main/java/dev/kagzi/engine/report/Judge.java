package dev.kagzi.engine.report;

import dev.kagzi.engine.message.DeliverMessages;
import dev.kagzi.engine.message.RunMessage;
import dev.kagzi.engine.report.ReportResult.Accepted;
import dev.kagzi.engine.report.ReportResult.AlreadyRecorded;
import dev.kagzi.engine.report.ReportResult.ClaimLost;
import dev.kagzi.engine.report.ReportResult.FinalFailure;
import dev.kagzi.engine.report.ReportResult.RetryScheduled;
import dev.kagzi.engine.report.ReportResult.Sleeping;
import dev.kagzi.engine.retry.RetryDecision;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.retry.RetryPolicyJson;
import dev.kagzi.engine.run.CancelResult;
import dev.kagzi.engine.run.CancelRun;
import dev.kagzi.engine.run.RunEvents;
import dev.kagzi.engine.run.RunRow;
import dev.kagzi.engine.run.RunRow.Fence;
import dev.kagzi.engine.step.StepRef;
import dev.kagzi.engine.step.StepRow;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepStatus;
import dev.kagzi.engine.value.WorkerId;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Decides what becomes of each write of a batch. All rows that a decision needs are locked and read
 * before; nothing here talks to the database.
 */
final class Judge {
  private static final long US_PER_MS = 1_000;

  private final RunBatch batch;
  private final Rules rules;
  private final RunEvents events;
  private final RandomGenerator random;

  Judge(RunBatch batch, Rules rules, RunEvents events, RandomGenerator random) {
    this.batch = batch;
    this.rules = rules;
    this.events = events;
    this.random = random;
  }

  void report(ReportWrite write) {
    RunRow row = batch.row(write.runId());
    if (row == null || !row.queue().namespace().equals(write.namespace())) {
      write.refuse(Refusal.notFound("run", write.runId()));
      return;
    }
    write.answer(
        switch (write.report()) {
          case Report.StepStarted r -> stepStarted(row, r);
          case Report.StepDone r -> stepDone(row, r, write);
          case Report.StepFailed r -> stepFailed(row, r, write.waitsInPlace());
          case Report.Sleep r -> sleep(row, r, write.waitsInPlace());
          case Report.Done r -> done(row, r);
          case Report.Failed r -> failed(row, r);
          case Report.Released r -> released(row, r);
          case Report.Parked r -> parked(row, r);
        });
  }

  private ReportResult stepStarted(RunRow row, Report.StepStarted r) {
    if (row.fence(r.claim()) != Fence.HELD) {
      return new ClaimLost(row.status());
    }
    if (!batch.hasAdded(row.runId(), r.stepKey(), r.attempt())) {
      batch.add(
          step(row, r.claim(), r.stepKey(), r.attempt(), r.kind(), StepStatus.RUNNING)
              .input(r.input())
              .ranMs(r.ranMs())
              .row());
    }
    return new Accepted(row.status());
  }

  private ReportResult stepDone(RunRow row, Report.StepDone r, ReportWrite write) {
    Fence fence = row.fence(r.claim());
    if (fence == Fence.LOST) {
      return new ClaimLost(row.status());
    }
    List<StepRow> attempts = batch.attempts(row.runId(), r.stepKey());
    for (StepRow attempt : attempts) {
      if (attempt.status() == StepStatus.COMPLETED) {
        boolean own = attempt.attempt() == r.attempt() && attempt.epoch() == epoch(row, r.claim());
        return own ? new Accepted(row.status()) : recorded(row, attempt);
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
            .ranMs(r.ranMs())
            .row();
    if (needsNoRead(r) && done.isPlainResult()) {
      batch.addUnseen(done, write);
    } else {
      batch.add(done);
    }
    row.progress();
    return new Accepted(row.status());
  }

  /** The first attempt's plain result: the insert itself shows whether it is the first. */
  static boolean needsNoRead(Report.StepDone r) {
    return r.attempt() == 1 && r.kind() == StepKind.FUNCTION && r.input() == null;
  }

  private ReportResult stepFailed(RunRow row, Report.StepFailed r, boolean waitsInPlace) {
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
            ? again(row, attempt, fence)
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
    StepBuilder failed =
        step(row, r.claim(), r.stepKey(), r.attempt(), StepKind.FUNCTION, StepStatus.FAILED)
            .input(r.input())
            .failure(r.failure())
            .ranMs(r.ranMs());
    row.progress();
    return switch (policy.after(attemptOfRunAttempt(row, r, attempts), r.failure(), random)) {
      case RetryDecision.GiveUp ignored -> {
        batch.add(failed.isFinal().row());
        yield new FinalFailure();
      }
      case RetryDecision.RetryAfter(long delayMs) -> {
        long dueUs = row.nowUs() + delayMs * US_PER_MS;
        batch.add(failed.dueUs(dueUs).row());
        boolean kept = r.keepClaim() || (waitsInPlace && delayMs < rules.shortWaitMs());
        if (!kept) {
          park(row, RunStatus.PENDING, dueUs, List.of(), false);
        }
        yield new RetryScheduled(r.attempt() + 1, delayMs, instant(dueUs), kept);
      }
    };
  }

  /** Attempts start anew with each attempt of the run; their numbers go on. */
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
   * The step's policy, else the one that its beginning stored, else the run's, else the server's.
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

  /** The same failure was recorded by the same claim: answered as before. */
  private static ReportResult again(RunRow row, StepRow failed, Fence fence) {
    if (failed.isFinal()) {
      return new FinalFailure();
    }
    Long dueUs = failed.dueUs();
    return new RetryScheduled(
        failed.attempt() + 1,
        failed.remainingMs(row.nowUs()),
        instant(dueUs == null ? row.nowUs() : dueUs),
        fence == Fence.HELD);
  }

  private static Instant instant(long us) {
    return Instant.EPOCH.plus(us, ChronoUnit.MICROS);
  }

  private ReportResult sleep(RunRow row, Report.Sleep r, boolean waitsInPlace) {
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
          ? new Sleeping(remainingMs(row, begunDueUs), false)
          : new ClaimLost(row.status());
    }
    // A wake time is stored once: a sleep that was begun before goes on, it does not start anew.
    long dueUs = begunDueUs == null ? dueUs(row, r) : begunDueUs;
    if (begunDueUs == null) {
      int attempt = slept == null ? 1 : slept.attempt();
      batch.add(
          step(row, r.claim(), r.stepKey(), attempt, StepKind.SLEEP, StepStatus.RUNNING)
              .dueUs(dueUs)
              .row());
    }
    row.progress();
    long remainingMs = remainingMs(row, dueUs);
    boolean kept = r.keepClaim() || (waitsInPlace && remainingMs < rules.shortWaitMs());
    if (!kept) {
      park(row, RunStatus.SLEEPING, dueUs, List.of(), false);
    }
    return new Sleeping(remainingMs, kept);
  }

  /** Rounded up: nobody wakes early. */
  private static long remainingMs(RunRow row, long dueUs) {
    return Math.max(0, Math.ceilDiv(dueUs - row.nowUs(), US_PER_MS));
  }

  private static long dueUs(RunRow row, Report.Sleep r) {
    if (r.until() != null) {
      return ChronoUnit.MICROS.between(Instant.EPOCH, r.until());
    }
    long durationMs = r.durationMs() == null ? 0 : Math.max(0, r.durationMs());
    return row.nowUs() + durationMs * US_PER_MS;
  }

  private ReportResult done(RunRow row, Report.Done r) {
    return switch (row.fence(r.claim())) {
      case HELD -> {
        end(row, RunStatus.COMPLETED, null, r.output());
        yield new Accepted(RunStatus.COMPLETED);
      }
      case ENDED_BY_ITSELF ->
          row.status() == RunStatus.COMPLETED
              ? new Accepted(RunStatus.COMPLETED)
              : new ClaimLost(row.status());
      case LOST -> new ClaimLost(row.status());
    };
  }

  private ReportResult failed(RunRow row, Report.Failed r) {
    return switch (row.fence(r.claim())) {
      case HELD -> {
        end(row, RunStatus.FAILED, r.failure(), null);
        yield new Accepted(RunStatus.FAILED);
      }
      case ENDED_BY_ITSELF ->
          row.status() == RunStatus.FAILED
              ? new Accepted(RunStatus.FAILED)
              : new ClaimLost(row.status());
      case LOST -> new ClaimLost(row.status());
    };
  }

  private void end(
      RunRow row, RunStatus status, @Nullable Failure failure, @Nullable Payload output) {
    Claim claim = new Claim(row.runId(), row.epoch());
    row.finish(status, failure);
    if (output != null) {
      batch.output(row.runId(), output);
    }
    batch.then(() -> events.claimEnded(claim));
    tellEnd(row, status, output);
  }

  private void tellEnd(RunRow row, RunStatus status, @Nullable Payload output) {
    RunId parent = row.parent();
    String parentStep = row.parentStep();
    if (parent != null && parentStep != null) {
      Failure why = row.failure();
      if (why == null && status != RunStatus.COMPLETED) {
        why = Failure.of(ErrorCode.UNSPECIFIED, "the run ended as " + status);
      }
      batch.post(new RunMessage(parent, parentStep, output, why));
      batch.then(() -> events.messages(parent));
    }
    batch.then(() -> events.ended(RunBatch.end(row, status, output)));
  }

  private ReportResult released(RunRow row, Report.Released r) {
    return switch (row.fence(r.claim())) {
      case HELD -> {
        long delayMs = Math.max(0, r.delayMs());
        Claim claim = new Claim(row.runId(), row.epoch());
        row.release(row.nowUs() + delayMs * US_PER_MS, r.blockedBy());
        batch.then(() -> events.claimEnded(claim));
        batch.then(() -> events.due(row.queue(), row.type(), delayMs));
        yield new Accepted(RunStatus.PENDING);
      }
      case ENDED_BY_ITSELF -> new Accepted(row.status());
      case LOST -> new ClaimLost(row.status());
    };
  }

  private ReportResult parked(RunRow row, Report.Parked r) {
    return switch (row.fence(r.claim())) {
      case HELD -> {
        long untilUs =
            r.durationMs() == null ? RunRow.NEVER : row.nowUs() + r.durationMs() * US_PER_MS;
        park(row, RunStatus.SLEEPING, untilUs, r.steps(), r.all());
        readInbox(row);
        yield new Accepted(row.status());
      }
      case ENDED_BY_ITSELF -> new Accepted(row.status());
      case LOST -> new ClaimLost(row.status());
    };
  }

  private void park(RunRow row, RunStatus status, long untilUs, List<String> steps, boolean all) {
    Claim claim = new Claim(row.runId(), row.epoch());
    row.park(status, untilUs, steps, all);
    batch.then(() -> events.claimEnded(claim));
    if (untilUs != RunRow.NEVER) {
      long delayMs = remainingMs(row, untilUs);
      batch.then(() -> events.due(row.queue(), row.type(), delayMs));
    }
  }

  void deliver(DeliverMessages write) {
    RunRow row = batch.row(write.runId());
    int count = batch.inbox(write.runId()).size();
    if (row != null && !row.status().isFinal()) {
      readInbox(row);
    }
    write.answer(count);
  }

  /** Records what the messages say as results of steps, and wakes the run if it waited for them. */
  private void readInbox(RunRow row) {
    for (RunMessage message : batch.inbox(row.runId())) {
      List<StepRow> attempts = batch.attempts(row.runId(), message.stepKey());
      if (attempts.stream().noneMatch(Judge::isOver)) {
        batch.add(messageStep(row, message, attempts.isEmpty() ? 1 : attempts.getLast().attempt()));
      }
    }
    if (row.status() == RunStatus.SLEEPING && !row.waitsFor().isEmpty() && hasWhatItWaitsFor(row)) {
      row.wake();
      batch.then(() -> events.due(row.queue(), row.type(), 0));
    }
  }

  private static StepRow messageStep(RunRow row, RunMessage message, int attempt) {
    boolean good = message.failure() == null;
    Claim claim = new Claim(row.runId(), row.epoch());
    StepBuilder step =
        step(
            row,
            claim,
            message.stepKey(),
            attempt,
            StepKind.CHILD_WORKFLOW,
            good ? StepStatus.COMPLETED : StepStatus.FAILED);
    return good
        ? step.output(message.output()).row()
        : step.failure(message.failure()).isFinal().row();
  }

  private static boolean isOver(StepRow step) {
    return step.status() == StepStatus.COMPLETED
        || (step.status() == StepStatus.FAILED && step.isFinal());
  }

  private boolean hasWhatItWaitsFor(RunRow row) {
    Set<String> over = new HashSet<>();
    for (String step : row.waitsFor()) {
      if (batch.attempts(row.runId(), step).stream().anyMatch(Judge::isOver)) {
        over.add(step);
      }
    }
    return row.waitsForAll() ? over.containsAll(row.waitsFor()) : !over.isEmpty();
  }

  void cancel(CancelRun write) {
    RunRow row = batch.row(write.runId());
    if (row == null || !row.queue().namespace().equals(write.namespace())) {
      write.refuse(Refusal.notFound("run", write.runId()));
      return;
    }
    if (row.status().isFinal()) {
      write.answer(new CancelResult(false, row.status()));
      return;
    }
    WorkerId worker = row.lockedBy();
    Claim claim = new Claim(row.runId(), row.epoch());
    row.endFromOutside(RunStatus.CANCELLED, null);
    batch.closeSteps(row.runId());
    if (worker != null) {
      batch.then(() -> events.stop(worker, claim, RunStatus.CANCELLED));
      batch.then(() -> events.claimEnded(claim));
    }
    tellEnd(row, RunStatus.CANCELLED, null);
    write.answer(new CancelResult(true, RunStatus.CANCELLED));
  }

  void free(FreeClaim write) {
    RunRow row = batch.row(write.runId());
    if (row == null || row.fence(write.claim()) != Fence.HELD) {
      write.answer(false);
      return;
    }
    WorkerId worker = row.lockedBy();
    long delayMs = 0;
    if (write.cause() == FreeClaim.Cause.WORKER_GONE) {
      delayMs = rules.crashBackoffMs(row.crashes());
      row.takeFromDeadWorker(row.nowUs() + delayMs * US_PER_MS);
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

  void begin(BeginStep write) {
    RunRow row = batch.row(write.runId());
    if (row == null || !row.queue().namespace().equals(write.namespace())) {
      write.refuse(Refusal.notFound("run", write.runId()));
    } else if (row.fence(write.claim()) != Fence.HELD) {
      write.refuse(claimLost(row, write.claim()));
    } else {
      begin(row, write);
    }
  }

  private void begin(RunRow row, BeginStep write) {
    List<StepRow> attempts = batch.attempts(row.runId(), write.stepKey());
    StepRow last = attempts.isEmpty() ? null : attempts.getLast();
    if (last != null && last.kind() != write.kind()) {
      write.refuse(
          Refusal.invalid(
              "kind", write.kind(), last.kind() + ", as step " + write.stepKey() + " was begun"));
      return;
    }
    if (last != null && last.status() == StepStatus.COMPLETED) {
      write.answer(new BegunStep(ref(last), false, last.output()));
      return;
    }
    // An attempt that was cut short by a crash is the same attempt again: crashes are not failures.
    StepRow open = last != null && last.status() == StepStatus.RUNNING ? last : null;
    int attempt = open != null ? open.attempt() : last == null ? 1 : last.attempt() + 1;
    StepRow begun =
        step(row, write.claim(), write.stepKey(), attempt, write.kind(), StepStatus.RUNNING)
            .input(write.input())
            .retryPolicy(RetryPolicyJson.encode(write.policy()))
            .dueUs(open == null ? null : open.dueUs())
            .row();
    batch.add(begun);
    write.answer(new BegunStep(ref(begun), true, null));
  }

  private static StepRef ref(StepRow row) {
    return new StepRef(row.runId(), row.stepKey(), row.attempt(), row.epoch());
  }

  /** What a simple client hears whose claim is gone. */
  static Refusal claimLost(RunRow row, Claim claim) {
    return Refusal.of(
        Refusal.Reason.FAILED_PRECONDITION,
        "run",
        row.runId().toString(),
        "run "
            + row.runId()
            + ": claim lost (status "
            + row.status()
            + ", epoch "
            + claim.epoch()
            + ", expected: RUNNING with epoch "
            + row.epoch()
            + ")");
  }

  private static ReportResult recorded(RunRow row, StepRow step) {
    return new AlreadyRecorded(step.recorded(row.nowUs(), row.attempts()));
  }

  private static boolean failedBefore(List<StepRow> attempts, int attempt) {
    return attempts.stream()
        .anyMatch(a -> a.attempt() == attempt - 1 && a.status() == StepStatus.FAILED);
  }

  private static ReportResult refusedAttempt(String stepKey, int attempt) {
    return new ReportResult.Refused(
        Refusal.invalid(
            "attempt",
            attempt + " of step " + stepKey,
            "attempt " + (attempt - 1) + " recorded as failed"));
  }

  private static int epoch(RunRow row, Claim claim) {
    return claim.epoch() == Claim.ANY ? row.epoch() : claim.epoch();
  }

  private static StepBuilder step(
      RunRow row, Claim claim, String key, int attempt, StepKind kind, StepStatus status) {
    return new StepBuilder(row, epoch(row, claim), key, attempt, kind, status);
  }
}
