package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.config.TransitionRules;
import dev.kagzi.engine.internal.run.ReportWrite;
import dev.kagzi.engine.internal.run.RunEvents;
import dev.kagzi.engine.internal.run.RunRow;
import dev.kagzi.engine.internal.run.RunRow.Fence;
import dev.kagzi.engine.internal.run.SignalRun;
import dev.kagzi.engine.internal.signal.SignalRow;
import dev.kagzi.engine.internal.signal.SignalRows;
import dev.kagzi.engine.internal.step.StepRow;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.ReportResult.ClaimLost;
import dev.kagzi.engine.run.ReportResult.Received;
import dev.kagzi.engine.run.ReportResult.Receiving;
import dev.kagzi.engine.run.SignalRequest;
import dev.kagzi.engine.run.SignalResult;
import dev.kagzi.engine.value.CallbackAnswer;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepStatus;
import dev.kagzi.engine.value.WorkerId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides which step receives which signal. A step receives a signal only when a worker reports
 * that the step waits, or while the run is parked until the step ends. All other signals are
 * buffered. So a step that its code no longer waits for never receives a signal.
 */
record SignalTransitions(
    RunBatch batch,
    TransitionRules rules,
    RunMutations mutations,
    AwaitedSteps awaited,
    RunEvents events) {
  private static final long US_PER_MS = 1_000;

  void signal(SignalRun write) {
    RunRow row = batch.row(write.runId());
    if (row == null || !row.queue().namespace().equals(write.namespace())) {
      write.refuse(Refusal.notFound("run", write.runId(), write.namespace()));
      return;
    }
    SignalRows.Accepted accepted = batch.signals().acceptedBy(write);
    SignalRequest signal = write.signal();
    SignalRows.Known known =
        accepted == null
            ? batch.signals().known(row.runId(), signal.signalId())
            : new SignalRows.Known(accepted.name(), false);
    if (known != null) {
      answerKnown(row, write, known, accepted);
      return;
    }
    Refusal continued = batch.chains().continued(row, "the last run of the chain; try again");
    Refusal refusal = continued == null ? refusal(row, write) : continued;
    if (refusal != null) {
      write.refuse(refusal);
      return;
    }
    batch
        .signals()
        .add(
            row.runId(),
            // Each run of a chain makes callbacks of its own, which may have the same names.
            CallbackAnswer.isSignalName(signal.name()) ? null : row.firstRun(),
            signal,
            write.externalId().isEmpty()
                ? null
                : new SignalRow.StartKey(write.namespace(), write.externalId()));
    if (!CallbackAnswer.isSignalName(signal.name())) {
      batch.afterCommit(() -> events.signalSent(row.queue(), row.type()));
    }
    if (AwaitedSteps.isWaiting(row)) {
      receiveInOpenSteps(row, row.waitsFor());
      awaited.wakeIfEnded(row);
    }
    publish(row);
    write.answer(new SignalResult(row.runId(), false, CallbackAnswer.isFailure(signal.payload())));
  }

  /** Notifies the worker of a running run, because one of its branches may wait for the signal. */
  private void publish(RunRow row) {
    WorkerId worker = row.lockedBy();
    if (row.status() == RunStatus.RUNNING && worker != null) {
      Claim claim = new Claim(row.runId(), row.epoch());
      batch.afterCommit(() -> events.stepEnded(worker, claim));
    }
  }

  private void answerKnown(
      RunRow row, SignalRun write, SignalRows.Known known, SignalRows.@Nullable Accepted accepted) {
    SignalRequest signal = write.signal();
    if (!known.name().equals(signal.name())) {
      write.refuse(
          Refusal.invalid(
              "signal_id",
              signal.signalId() + ", which was sent with the name " + Refusal.shorten(known.name()),
              "an id of its own for each signal"));
      return;
    }
    SignalResult before = write.answerBefore();
    if (before != null && row.status() == RunStatus.PENDING) {
      // An earlier send was committed, but its events were not published.
      batch.afterCommit(() -> events.runDue(row.queue(), row.type(), 0));
    }
    publish(row);
    write.answer(
        before != null
            ? before
            : new SignalResult(
                accepted == null ? row.runId() : accepted.runId(), true, known.failed()));
  }

  private @Nullable Refusal refusal(RunRow row, SignalRun write) {
    String run = row.runId().toString();
    if (row.status().isFinal()) {
      return Refusal.of(
          Refusal.Code.RUN_ENDED,
          "run",
          run,
          "run %s: status %s (expected: an open run; the signal was not stored)"
              .formatted(run, row.status()));
    }
    if (row.isSimple()
        || (row.status() == RunStatus.RUNNING
            && batch.signals().isHeldBySimpleClient(row.runId()))) {
      return Refusal.of(
          Refusal.Code.SIGNALS_UNSUPPORTED,
          "run",
          run,
          ("run %s: it is executed by a worker that polls with PollTask (expected: a worker that polls"
                  + " with PollTasks; others cannot receive signals)")
              .formatted(run));
    }
    if (CallbackAnswer.isSignalName(write.signal().name())) {
      // Each step that makes a callback has one answer, and the number of steps is limited.
      return null;
    }
    int max = write.limits().signalsPerRunMax();
    if (batch.signals().buffered(row.runId()) >= max) {
      return tooMany(run, batch.signals().buffered(row.runId()) + " signals", max + "");
    }
    long bytes =
        batch.signals().bufferedBytes(row.runId()) + write.signal().payload().data().length;
    int bytesMax = write.limits().signalBytesPerRunMax();
    return bytes > bytesMax ? tooMany(run, bytes + " bytes of signals", bytesMax + " bytes") : null;
  }

  private static Refusal tooMany(String run, String found, String expected) {
    return Refusal.of(
        Refusal.Code.TOO_MANY_SIGNALS,
        "run",
        run,
        "run %s: %s that it has not received (expected: at most %s; send again later)"
            .formatted(run, found, expected));
  }

  /** Gives buffered signals to those of the steps that wait for one, in the order of the steps. */
  void receiveInOpenSteps(RunRow row, List<String> steps) {
    for (String key : steps) {
      StepRow open = batch.lastAttempt(row.runId(), key);
      if (open != null && open.isReceiving()) {
        Payload payload = take(row, open.signalName(), key);
        if (payload != null) {
          batch.add(ended(row, row.epoch(), key, open.signalName(), open.dueUs(), payload));
          row.recordProgress();
        }
      }
    }
  }

  /** Gives the oldest buffered signal of the name to the step; returns null if there is none. */
  private @Nullable Payload take(RunRow row, String name, String stepKey) {
    Payload payload = batch.signals().receive(row.runId(), name, stepKey);
    if (payload != null && !CallbackAnswer.isSignalName(name)) {
      batch.afterCommit(() -> events.signalReceived(row.queue(), row.type()));
    }
    return payload;
  }

  ReportResult receive(RunRow row, Report.Receive r, ReportWrite write) {
    Fence fence = row.fence(r.claim());
    if (fence == Fence.LOST) {
      return new ClaimLost(row.status());
    }
    List<StepRow> attempts = batch.attempts(row.runId(), r.stepKey());
    StepRow last = attempts.isEmpty() ? null : attempts.getLast();
    if (last != null && last.kind() != StepKind.SIGNAL) {
      return new ReportResult.Refused(
          Refusal.invalid("step", r.stepKey() + " is a " + last.kind(), "a step of kind SIGNAL"));
    }
    StepRow ended = last != null && last.status() == StepStatus.COMPLETED ? last : null;
    if (fence != Fence.HELD) {
      // A repeated report, whose claim has already ended. If this report itself parked the run, the
      // step may have ended afterwards. So return the step's result only if an earlier send of this
      // write had that answer.
      return ended != null && write.answerBefore() instanceof Received
          ? received(row, ended)
          : new Receiving(remainingMs(row, last == null ? null : last.dueUs()), false);
    }
    return ended == null ? receiveOrWait(row, r, last, write.waitsInPlace()) : received(row, ended);
  }

  private static Received received(RunRow row, StepRow step) {
    return new Received(step.recorded(row.nowUs(), row.attempts()));
  }

  /** Receives a signal that has arrived, even if the timeout has passed. */
  private ReportResult receiveOrWait(
      RunRow row, Report.Receive r, @Nullable StepRow open, boolean waitsInPlace) {
    Payload payload = take(row, r.signal(), r.stepKey());
    Long dueUs = open == null ? dueUs(row, r) : open.dueUs();
    int epoch = StepTransitions.epoch(row, r.claim());
    if (payload != null || (dueUs != null && dueUs <= row.nowUs())) {
      StepRow ended = ended(row, epoch, r.stepKey(), r.signal(), dueUs, payload);
      batch.add(ended);
      row.recordProgress();
      return received(row, ended);
    }
    if (open == null) {
      batch.add(step(row, epoch, r.stepKey(), r.signal(), StepStatus.RUNNING).dueUs(dueUs).row());
      // As for sleeps, only a new wait is progress.
      row.recordProgress();
    }
    Long remainingMs = remainingMs(row, dueUs);
    boolean kept =
        r.keepClaim() || (waitsInPlace && remainingMs != null && remainingMs < rules.shortWaitMs());
    if (!kept) {
      long untilUs = dueUs == null ? RunRow.NEVER : dueUs;
      mutations.park(row, RunStatus.SLEEPING, untilUs, List.of(r.stepKey()), true);
    }
    return new Receiving(remainingMs, kept);
  }

  private static @Nullable Long remainingMs(RunRow row, @Nullable Long dueUs) {
    return dueUs == null ? null : RunMutations.remainingMs(row, dueUs);
  }

  private static @Nullable Long dueUs(RunRow row, Report.Receive r) {
    Long timeoutMs = r.timeoutMs();
    return timeoutMs == null ? null : row.nowUs() + timeoutMs * US_PER_MS;
  }

  /** The step with its signal; without a payload it has timed out. */
  private static StepRow ended(
      RunRow row,
      int epoch,
      String key,
      String name,
      @Nullable Long dueUs,
      @Nullable Payload payload) {
    return step(row, epoch, key, name, StepStatus.COMPLETED).dueUs(dueUs).output(payload).row();
  }

  private static StepRowBuilder step(
      RunRow row, int epoch, String key, String name, StepStatus status) {
    return new StepRowBuilder(row, epoch, key, 1, StepKind.SIGNAL, status).name(name);
  }

  ReportResult stopReceives(RunRow row, Report.ReceivesStopped r) {
    return switch (row.fence(r.claim())) {
      case HELD -> {
        boolean keepsEnded = r.winner() != null;
        r.scopes().forEach(scope -> batch.stopReceives(row.runId(), scope, keepsEnded));
        yield new ReportResult.Accepted(RunStatus.RUNNING);
      }
      case ENDED_BY_HOLDER -> new ReportResult.Accepted(row.status());
      case LOST -> new ClaimLost(row.status());
    };
  }
}
