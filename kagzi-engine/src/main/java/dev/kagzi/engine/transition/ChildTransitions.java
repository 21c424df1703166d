package dev.kagzi.engine.transition;

import dev.kagzi.engine.message.DeliverMessages;
import dev.kagzi.engine.message.RunMessage;
import dev.kagzi.engine.run.RunEvents;
import dev.kagzi.engine.run.RunRow;
import dev.kagzi.engine.run.RunRow.Fence;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartRun;
import dev.kagzi.engine.run.Versions;
import dev.kagzi.engine.step.RecordedStep;
import dev.kagzi.engine.step.StepRow;
import dev.kagzi.engine.transition.ReportResult.Came;
import dev.kagzi.engine.transition.ReportResult.ChildAccepted;
import dev.kagzi.engine.transition.ReportResult.ClaimLost;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Origin;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepStatus;
import dev.kagzi.engine.value.WorkerId;
import java.util.ArrayList;
import java.util.List;

/** Decides what runs do to each other: children start, and messages tell of ends. */
final class ChildTransitions {
  private static final long US_PER_MS = 1_000;

  /** What one answer holds of ended steps; one step that is larger is answered alone. */
  static final int CAME_BYTES_MAX = 2 << 20;

  private final RunBatch batch;
  private final Versions versions;
  private final RunMutations moves;
  private final RunEvents events;

  ChildTransitions(RunBatch batch, Versions versions, RunMutations moves, RunEvents events) {
    this.batch = batch;
    this.versions = versions;
    this.moves = moves;
    this.events = events;
  }

  /**
   * The child's id follows from its parent and the step: it starts once, whatever is sent again.
   */
  ReportResult started(RunRow row, Report.ChildStarted r) {
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
    row.progress();
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
    if (!row.status().isFinal()) {
      // Whoever asks: the messages are taken, and must not be lost.
      readInbox(row);
    }
    return switch (row.fence(r.claim())) {
      case HELD -> {
        List<StepRow> over = over(row, r.steps());
        boolean enough =
            !r.steps().isEmpty() && (r.all() ? over.size() == r.steps().size() : !over.isEmpty());
        if (enough || r.keepClaim()) {
          yield new Came(asManyAsFit(row, over), true);
        }
        long untilUs =
            r.durationMs() == null ? RunRow.NEVER : row.nowUs() + r.durationMs() * US_PER_MS;
        moves.park(row, RunStatus.SLEEPING, untilUs, r.steps(), r.all());
        yield new Came(List.of(), false);
      }
      case ENDED_BY_ITSELF -> new Came(List.of(), false);
      case LOST -> new ClaimLost(row.status());
    };
  }

  private List<StepRow> over(RunRow row, List<String> steps) {
    List<StepRow> over = new ArrayList<>();
    for (String step : steps) {
      StepRow last = batch.last(row.runId(), step);
      if (last != null && isOver(row, last)) {
        over.add(last);
      }
    }
    return over;
  }

  private List<RecordedStep> asManyAsFit(RunRow row, List<StepRow> over) {
    List<RecordedStep> some = new ArrayList<>();
    int bytes = 0;
    for (StepRow step : over) {
      RecordedStep recorded = step.recorded(row.nowUs(), row.attempts());
      bytes += recorded.bytes();
      if (batch.isWithheld(step) || (!some.isEmpty() && bytes > CAME_BYTES_MAX)) {
        break;
      }
      some.add(recorded);
    }
    return some;
  }

  void deliver(DeliverMessages write) {
    RunRow row = batch.row(write.runId());
    int count = batch.inbox(write.runId()).size();
    if (row != null && !row.status().isFinal()) {
      boolean news = readInbox(row);
      WorkerId worker = row.lockedBy();
      if (news && row.status() == RunStatus.RUNNING && worker != null) {
        Claim claim = new Claim(row.runId(), row.epoch());
        batch.then(() -> events.wake(worker, claim));
      }
    }
    Integer before = write.answerBefore();
    write.answer(before == null ? count : Math.max(before, count));
  }

  /**
   * Does what the messages say: records results of steps, and wakes the run if it waited for them;
   * ends the run if its parent was ended. Answers whether steps were recorded.
   */
  private boolean readInbox(RunRow row) {
    boolean news = false;
    for (RunMessage message : batch.inbox(row.runId())) {
      if (row.status().isFinal()) {
        return news;
      }
      if (message.isFromAbove()) {
        moves.cancel(row, message.failure());
      } else {
        news |= record(row, message);
      }
    }
    if (row.status() == RunStatus.SLEEPING && !row.waitsFor().isEmpty() && hasWhatItWaitsFor(row)) {
      row.wake();
      batch.then(() -> events.due(row.queue(), row.type(), 0));
    }
    return news;
  }

  /** The attempt that this very child carries out; what another says comes too late. */
  private boolean record(RunRow row, RunMessage message) {
    StepRow open = batch.last(row.runId(), message.stepKey());
    boolean known =
        open == null
            || (open.status() == StepStatus.RUNNING
                && (open.child() == null || open.child().equals(message.from())));
    if (known) {
      batch.add(messageStep(row, message, open == null ? 1 : open.attempt()));
    }
    return known;
  }

  private static StepRow messageStep(RunRow row, RunMessage message, int attempt) {
    boolean good = message.what() == RunMessage.What.COMPLETED;
    StepRowBuilder step =
        StepTransitions.step(
                row,
                new Claim(row.runId(), row.epoch()),
                message.stepKey(),
                attempt,
                StepKind.CHILD_WORKFLOW,
                good ? StepStatus.COMPLETED : StepStatus.FAILED)
            .child(message.from());
    return good
        ? step.output(message.output()).row()
        : step.failure(message.failure()).isFinal().row();
  }

  private static boolean isOver(RunRow row, StepRow step) {
    return step.status() == StepStatus.COMPLETED || step.isFinalIn(row.attempts());
  }

  private boolean hasWhatItWaitsFor(RunRow row) {
    int over = over(row, row.waitsFor()).size();
    return row.waitsForAll() ? over == row.waitsFor().size() : over > 0;
  }
}
