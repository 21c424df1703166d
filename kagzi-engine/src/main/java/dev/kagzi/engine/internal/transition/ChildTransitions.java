package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.internal.message.RunMessage;
import dev.kagzi.engine.internal.run.DeliverMessages;
import dev.kagzi.engine.internal.run.RunEvents;
import dev.kagzi.engine.internal.run.RunRow;
import dev.kagzi.engine.internal.run.RunRow.Fence;
import dev.kagzi.engine.internal.run.StartRun;
import dev.kagzi.engine.internal.step.StepRow;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.ReportResult.ChildAccepted;
import dev.kagzi.engine.run.ReportResult.ClaimLost;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.Versions;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Origin;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepStatus;
import dev.kagzi.engine.value.WorkerId;
import java.util.ArrayList;
import java.util.List;

/** Decides transitions between runs: child starts, waits for children and signals, messages. */
record ChildTransitions(
    RunBatch batch,
    Versions versions,
    RunMutations mutations,
    CancelTransitions cancels,
    SignalTransitions signals,
    AwaitedSteps awaited,
    RunEvents events) {
  private static final long US_PER_MS = 1_000;

  /** Limit of the step results in one answer; a larger first result is returned alone. */
  static final int AWAITED_BYTES_MAX = 2 << 20;

  /**
   * The child's id is derived from parent, step and attempt, so a repeated report starts no second
   * child.
   */
  ReportResult startChild(RunRow row, Report.ChildStarted r) {
    Fence fence = row.fence(r.claim());
    if (fence == Fence.LOST) {
      return new ClaimLost(row.status());
    }
    RunId child = row.runId().derived("child " + r.stepKey() + " " + r.attempt());
    List<StepRow> attempts = batch.attempts(row.runId(), r.stepKey());
    for (StepRow attempt : attempts) {
      if (attempt.kind() != StepKind.CHILD_WORKFLOW) {
        return new ReportResult.Refused(
            Refusal.invalid(
                "step", r.stepKey() + " is a " + attempt.kind(), "a step of kind CHILD_WORKFLOW"));
      }
      if (child.equals(attempt.child())) {
        return new ChildAccepted(child);
      }
      if (attempt.status() == StepStatus.COMPLETED) {
        return StepTransitions.recorded(row, attempt);
      }
    }
    if (fence != Fence.HELD) {
      return new ClaimLost(row.status());
    }
    if (r.attempt() > 1 && !StepTransitions.failedBefore(attempts, r.attempt())) {
      return StepTransitions.refusedAttempt(r.stepKey(), r.attempt());
    }
    batch.add(
        StepTransitions.step(
                row,
                r.claim(),
                r.stepKey(),
                r.attempt(),
                StepKind.CHILD_WORKFLOW,
                r.detached() ? StepStatus.COMPLETED : StepStatus.RUNNING)
            .child(child)
            .row());
    batch.start(new StartRun(child, request(row, r, child), lineage(row, r), null));
    row.recordProgress();
    return new ChildAccepted(child);
  }

  private static StartRun.Lineage lineage(RunRow row, Report.ChildStarted r) {
    return r.detached()
        ? StartRun.Lineage.detachedFrom(row.runId(), r.stepKey())
        : new StartRun.Lineage(Origin.CHILD, row.runId(), r.stepKey());
  }

  private StartRequest request(RunRow row, Report.ChildStarted r, RunId child) {
    StartRequest start = r.start();
    String namespace = row.queue().namespace();
    return new StartRequest(
        namespace,
        "",
        start.taskQueue().isEmpty() ? row.queue().queue() : start.taskQueue(),
        start.workflowType(),
        versions.resolve(namespace, start.workflowType(), start.version()),
        start.input(),
        start.retryPolicy(),
        child,
        start.options());
  }

  ReportResult awaited(RunRow row, Report.Awaited r) {
    // The batch has deleted the messages, so they must be applied even if the claim is lost, and
    // forwarded even if this report was sent again after the run had continued as new.
    if (row.status().isFinal()) {
      forwardToChain(row);
    } else {
      applyInbox(row);
    }
    return switch (row.fence(r.claim())) {
      case HELD -> {
        signals.receiveInOpenSteps(row, r.steps());
        List<StepRow> ended = awaited.ended(row, r.steps());
        boolean enough =
            !r.steps().isEmpty() && (r.all() ? ended.size() == r.steps().size() : !ended.isEmpty());
        if (enough || r.keepClaim()) {
          yield new ReportResult.AwaitedSteps(upToByteLimit(row, ended), true);
        }
        long untilUs =
            r.durationMs() == null ? RunRow.NEVER : row.nowUs() + r.durationMs() * US_PER_MS;
        mutations.park(row, RunStatus.SLEEPING, untilUs, r.steps(), r.all());
        yield new ReportResult.AwaitedSteps(List.of(), false);
      }
      case ENDED_BY_HOLDER -> new ReportResult.AwaitedSteps(List.of(), false);
      case LOST -> new ClaimLost(row.status());
    };
  }

  private List<RecordedStep> upToByteLimit(RunRow row, List<StepRow> ended) {
    List<RecordedStep> page = new ArrayList<>();
    int bytes = 0;
    for (StepRow step : ended) {
      RecordedStep recorded = step.recorded(row.nowUs(), row.attempts());
      bytes += recorded.bytes();
      if (batch.isWithheld(step) || (!page.isEmpty() && bytes > AWAITED_BYTES_MAX)) {
        break;
      }
      page.add(recorded);
    }
    return page;
  }

  void deliver(DeliverMessages write) {
    RunRow row = batch.row(write.runId());
    int count = batch.inbox(write.runId()).size();
    if (row != null && !row.status().isFinal()) {
      boolean recorded = applyInbox(row);
      WorkerId worker = row.lockedBy();
      if (recorded && row.status() == RunStatus.RUNNING && worker != null) {
        Claim claim = new Claim(row.runId(), row.epoch());
        batch.afterCommit(() -> events.stepEnded(worker, claim));
      }
    } else if (row != null) {
      forwardToChain(row);
    }
    Integer before = write.answerBefore();
    write.answer(before == null ? count : Math.max(before, count));
  }

  /**
   * A parent posts its cancel to the children that it sees as open. If such a child has continued
   * as new meanwhile, the message goes to the last run of its chain.
   */
  private void forwardToChain(RunRow row) {
    RunId last = batch.chains().lastRun(row);
    for (RunMessage message : batch.inbox(row.runId())) {
      if (last != null && message.isFromParent()) {
        batch.post(message.to(last));
        batch.afterCommit(() -> events.messagesPosted(last));
      }
    }
  }

  /**
   * Applies the messages to the run: records step results, wakes the run if it waits for them, and
   * cancels or terminates it if its parent was. Returns whether steps were recorded.
   */
  private boolean applyInbox(RunRow row) {
    boolean recorded = false;
    for (RunMessage message : batch.inbox(row.runId())) {
      if (row.status().isFinal()) {
        return recorded;
      }
      if (message.isFromParent()) {
        cancels.cancel(row, message.failure());
      } else {
        recorded |= record(row, message);
      }
    }
    awaited.wakeIfEnded(row);
    return recorded;
  }

  /** Records the child's result, unless the step has ended or has another child. */
  private boolean record(RunRow row, RunMessage message) {
    StepRow open = batch.lastAttempt(row.runId(), message.stepKey());
    boolean expected =
        open == null
            || (open.status() == StepStatus.RUNNING
                && (open.child() == null || open.child().equals(message.from())));
    if (expected) {
      batch.add(messageStep(row, message, open == null ? 1 : open.attempt()));
    }
    return expected;
  }

  private static StepRow messageStep(RunRow row, RunMessage message, int attempt) {
    boolean completed = message.type() == RunMessage.Type.COMPLETED;
    StepRowBuilder step =
        StepTransitions.step(
                row,
                new Claim(row.runId(), row.epoch()),
                message.stepKey(),
                attempt,
                StepKind.CHILD_WORKFLOW,
                completed ? StepStatus.COMPLETED : StepStatus.FAILED)
            .child(message.from());
    return completed
        ? step.output(message.output()).row()
        : step.failure(message.failure()).isFinal().row();
  }
}
