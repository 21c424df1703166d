package dev.kagzi.engine.report;

import dev.kagzi.engine.message.DeliverMessages;
import dev.kagzi.engine.message.RunMessage;
import dev.kagzi.engine.report.ReportResult.Accepted;
import dev.kagzi.engine.report.ReportResult.ClaimLost;
import dev.kagzi.engine.run.CancelResult;
import dev.kagzi.engine.run.CancelRun;
import dev.kagzi.engine.run.RunEvents;
import dev.kagzi.engine.run.RunRow;
import dev.kagzi.engine.run.RunRow.Fence;
import dev.kagzi.engine.step.StepRow;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepStatus;
import dev.kagzi.engine.value.WorkerId;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Decides what becomes of runs: their end, their waiting, and what others do to them. */
final class RunJudge {
  private static final long US_PER_MS = 1_000;

  private final RunBatch batch;
  private final Rules rules;
  private final Moves moves;
  private final RunEvents events;

  RunJudge(RunBatch batch, Rules rules, Moves moves, RunEvents events) {
    this.batch = batch;
    this.rules = rules;
    this.moves = moves;
    this.events = events;
  }

  ReportResult done(RunRow row, Report.Done r) {
    return switch (row.fence(r.claim())) {
      case HELD -> {
        if (r.openSteps()) {
          batch.closeSteps(row.runId());
        }
        moves.end(row, RunStatus.COMPLETED, null, r.output());
        yield new Accepted(RunStatus.COMPLETED);
      }
      case ENDED_BY_ITSELF ->
          row.status() == RunStatus.COMPLETED
              ? new Accepted(RunStatus.COMPLETED)
              : new ClaimLost(row.status());
      case LOST -> new ClaimLost(row.status());
    };
  }

  ReportResult failed(RunRow row, Report.Failed r) {
    return switch (row.fence(r.claim())) {
      case HELD -> {
        moves.end(row, RunStatus.FAILED, r.failure(), null);
        yield new Accepted(RunStatus.FAILED);
      }
      case ENDED_BY_ITSELF ->
          row.status() == RunStatus.FAILED
              ? new Accepted(RunStatus.FAILED)
              : new ClaimLost(row.status());
      case LOST -> new ClaimLost(row.status());
    };
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

  ReportResult parked(RunRow row, Report.Parked r) {
    return switch (row.fence(r.claim())) {
      case HELD -> {
        long untilUs =
            r.durationMs() == null ? RunRow.NEVER : row.nowUs() + r.durationMs() * US_PER_MS;
        moves.park(row, RunStatus.SLEEPING, untilUs, r.steps(), r.all());
        readInbox(row);
        yield new Accepted(row.status());
      }
      case ENDED_BY_ITSELF -> new Accepted(row.status());
      case LOST -> new ClaimLost(row.status());
    };
  }

  void deliver(DeliverMessages write) {
    RunRow row = batch.row(write.runId());
    int count = batch.inbox(write.runId()).size();
    if (row != null && !row.status().isFinal()) {
      readInbox(row);
    }
    Integer before = write.answerBefore();
    write.answer(before == null ? count : Math.max(before, count));
  }

  /** Records what the messages say as results of steps, and wakes the run if it waited for them. */
  private void readInbox(RunRow row) {
    for (RunMessage message : batch.inbox(row.runId())) {
      List<StepRow> attempts = batch.attempts(row.runId(), message.stepKey());
      if (attempts.stream().noneMatch(RunJudge::isOver)) {
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
        StepJudge.step(
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
      if (batch.attempts(row.runId(), step).stream().anyMatch(RunJudge::isOver)) {
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
      CancelResult before = write.answerBefore();
      boolean own = before != null && before.cancelled() && row.status() == before.status();
      if (own) {
        moves.tellEnd(row, row.status(), null);
      }
      write.answer(new CancelResult(own, row.status()));
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
    moves.tellEnd(row, RunStatus.CANCELLED, null);
    write.answer(new CancelResult(true, RunStatus.CANCELLED));
  }

  void free(FreeClaim write) {
    RunRow row = batch.row(write.runId());
    if (row == null || row.fence(write.claim()) != Fence.HELD) {
      write.answer(Boolean.TRUE.equals(write.answerBefore()));
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

  void renew(RenewLease write) {
    RunRow row = batch.row(write.runId());
    boolean held = row != null && row.fence(write.claim()) == Fence.HELD;
    if (row != null && held) {
      row.renew(write.worker(), row.nowUs() + write.leaseMs() * US_PER_MS);
    }
    write.answer(held);
  }
}
