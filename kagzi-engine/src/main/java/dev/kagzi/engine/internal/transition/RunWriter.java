package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.config.TransitionRules;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.journal.BatchWriter;
import dev.kagzi.engine.internal.message.RunMessage;
import dev.kagzi.engine.internal.run.BeginStep;
import dev.kagzi.engine.internal.run.CancelRun;
import dev.kagzi.engine.internal.run.ChangeRun;
import dev.kagzi.engine.internal.run.DeliverMessages;
import dev.kagzi.engine.internal.run.ExpireRun;
import dev.kagzi.engine.internal.run.ExpireStep;
import dev.kagzi.engine.internal.run.FailCrashedRun;
import dev.kagzi.engine.internal.run.InsertRuns;
import dev.kagzi.engine.internal.run.LargePayloads;
import dev.kagzi.engine.internal.run.RenewLease;
import dev.kagzi.engine.internal.run.ReportWrite;
import dev.kagzi.engine.internal.run.ResumeRun;
import dev.kagzi.engine.internal.run.RunEvents;
import dev.kagzi.engine.internal.run.RunRow;
import dev.kagzi.engine.internal.run.RunWrite;
import dev.kagzi.engine.internal.run.SignalRun;
import dev.kagzi.engine.internal.run.StartRun;
import dev.kagzi.engine.internal.run.TakeClaim;
import dev.kagzi.engine.internal.step.StepRow;
import dev.kagzi.engine.run.Caller;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.run.Versions;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Executes a batch of run writes: locks the runs, reads what the decisions need, decides in memory
 * and writes with one to three statements per kind. The most common single writes have a statement
 * of their own.
 */
public final class RunWriter implements BatchWriter<RunWrite<?>> {
  private final TransitionRules rules;
  private final Versions versions;
  private final RunEvents events;
  private final RandomGenerator random;
  private final LargePayloads large;

  /** Without default versions, and with default limits. */
  public RunWriter(TransitionRules rules, RunEvents events, RandomGenerator random) {
    this(rules, Versions.NONE, events, random, new LargePayloads(Limits.DEFAULT));
  }

  public RunWriter(
      TransitionRules rules,
      Versions versions,
      RunEvents events,
      RandomGenerator random,
      LargePayloads large) {
    this.large = large;
    this.rules = rules;
    this.versions = versions;
    this.events = events;
    this.random = random;
  }

  @Override
  public Effects write(Session tx, List<RunWrite<?>> writes) throws SQLException {
    List<StartRun> starts = new ArrayList<>();
    List<ChangeRun<?>> changes = new ArrayList<>(writes.size());
    for (RunWrite<?> write : writes) {
      switch (write) {
        case StartRun start -> starts.add(start);
        case ChangeRun<?> change -> changes.add(change);
      }
    }
    RunBatch batch = new RunBatch(tx, large);
    if (!changes.isEmpty()) {
      lockAndRead(batch, changes, rules);
    }
    boolean hasInserted = !starts.isEmpty() && new RunStarts(tx, batch, events).insert(starts);
    Transitions transitions = new Transitions(batch, rules, versions, events, random);
    long sentBefore = tx.statements();
    changes.forEach(transitions::decide);
    Effects effects = batch.flush(events);
    if (!hasInserted && !batch.hasTakenMessages() && tx.statements() == sentBefore) {
      tx.endByRollback();
    }
    return () -> {
      effects.run();
      events.committed();
    };
  }

  private static void lockAndRead(RunBatch batch, List<ChangeRun<?>> writes, TransitionRules rules)
      throws SQLException {
    Set<RunId> ids = new LinkedHashSet<>();
    writes.forEach(write -> ids.add(write.runId()));
    batch.lock(ids);
    Set<RunId> receivers = new LinkedHashSet<>();
    for (ChangeRun<?> write : writes) {
      if (readsMessages(write, batch.row(write.runId()))) {
        receivers.add(write.runId());
      }
    }
    batch.takeMessages(receivers);
    Reads reads = new Reads(batch, rules);
    writes.forEach(reads::add);
    batch.readSteps(reads.steps);
    batch.readAwaited(reads.awaited, ChildTransitions.AWAITED_BYTES_MAX);
    batch.readStoredEnds(reads.endedAgain);
    batch.readFailureContexts(reads.failing);
    batch.readResumeContexts(reads.resumed);
    batch.readSignals(reads.signals);
    batch.readPublished(reads.publishing);
    batch.readChains(reads.continuing, reads.chained);
  }

  // A report with the id of a run of another namespace is refused, and must not delete that run's
  // messages.
  private static boolean readsMessages(ChangeRun<?> write, @Nullable RunRow row) {
    return write instanceof DeliverMessages
        || (write instanceof ReportWrite report
            && report.report() instanceof Report.Awaited
            && row != null
            && row.queue().namespace().equals(report.namespace()));
  }

  /** What the decisions about the writes of a batch need besides locked runs and messages. */
  private static final class Reads {
    private final RunBatch batch;
    private final TransitionRules rules;
    private final Set<StepRow.Key> steps = new LinkedHashSet<>();

    /**
     * Steps that runs wait for or that messages are about; true if the write returns the output.
     */
    private final Map<StepRow.Key, Boolean> awaited = new LinkedHashMap<>();

    private final Set<RunId> endedAgain = new LinkedHashSet<>();

    /** Runs that may fail; true for those that may be retried instead. */
    private final Map<RunId, Boolean> failing = new LinkedHashMap<>();

    private final Set<RunId> resumed = new LinkedHashSet<>();
    private final SignalReads signals = new SignalReads();
    private final Set<RunId> publishing = new LinkedHashSet<>();
    private final Set<RunId> continuing = new LinkedHashSet<>();

    /** Runs that calls and messages are about, which may have continued as new. */
    private final Set<RunRow> chained = new LinkedHashSet<>();

    Reads(RunBatch batch, TransitionRules rules) {
      this.batch = batch;
      this.rules = rules;
    }

    void add(ChangeRun<?> write) {
      RunId run = write.runId();
      RunRow row = batch.row(run);
      signals.add(write);
      boolean isReport = write instanceof ReportWrite;
      if (row != null && (!isReport || !batch.inbox(run).isEmpty())) {
        chained.add(row);
      }
      switch (write) {
        case ReportWrite report -> addReport(report, row);
        case BeginStep begin -> steps.add(new StepRow.Key(run, begin.begun().stepKey()));
        case ExpireStep expire -> steps.add(new StepRow.Key(run, expire.step().stepKey()));
        case ExpireRun ignored -> failing.putIfAbsent(run, false);
        case FailCrashedRun ignored -> failing.putIfAbsent(run, false);
        case TakeClaim ignored -> {
          if (row != null && rules.crashes().isOver(row.crashes() + 1)) {
            failing.putIfAbsent(run, false);
          }
        }
        case CancelRun cancel -> {
          // A terminate call for a failed run may be a repeated one.
          if (cancel.why() != null && row != null && row.status() == RunStatus.FAILED) {
            resumed.add(run);
          }
          if (cancel.why() == null && row != null && row.cleanUpMs() != null) {
            failing.putIfAbsent(run, false);
          }
        }
        case ResumeRun ignored -> resumed.add(run);
        case DeliverMessages ignored -> addMessages(run, row);
        case RenewLease ignored -> {}
        case SignalRun ignored -> addAwaited(run, row);
      }
    }

    private void addReport(ReportWrite write, @Nullable RunRow row) {
      RunId run = write.runId();
      switch (write.report()) {
        case Report.StepDone r -> {
          boolean held = row != null && row.fence(r.claim()) == RunRow.Fence.HELD;
          if (!held || write.caller() != null || !StepTransitions.needsNoRead(r)) {
            steps.add(new StepRow.Key(run, r.stepKey()));
          }
        }
        case Report.StepFailed r -> steps.add(new StepRow.Key(run, r.stepKey()));
        case Report.Sleep r -> steps.add(new StepRow.Key(run, r.stepKey()));
        case Report.ChildStarted r -> steps.add(new StepRow.Key(run, r.stepKey()));
        case Report.Awaited r -> {
          r.steps().forEach(step -> awaited.put(new StepRow.Key(run, step), true));
          addMessages(run, row);
        }
        case Report.Done ignored -> addEnd(write, row);
        case Report.Failed ignored -> {
          failing.put(run, row != null && row.retryPolicy() != null);
          addEnd(write, row);
        }
        case Report.Receive r -> steps.add(new StepRow.Key(run, r.stepKey()));
        case Report.ReceivesStopped r -> {
          if (r.winner() != null) {
            steps.add(new StepRow.Key(run, r.winner().stepKey()));
          }
        }
        case Report.ValuesPublished ignored -> publishing.add(run);
        case Report.ContinueAsNew r -> {
          continuing.add(run);
          if (!r.stepKey().isEmpty()) {
            steps.add(new StepRow.Key(run, r.stepKey()));
          }
        }
        case Report.CancelSeen r -> steps.add(new StepRow.Key(run, r.stepKey()));
        case Report.StepStarted ignored -> {}
        case Report.Released ignored -> {}
      }
    }

    /**
     * A simple client may report an end again; then it is compared with the stored end. If the run
     * failed and is retried, it may already be RUNNING under its next claim.
     */
    private void addEnd(ReportWrite write, @Nullable RunRow row) {
      if (write.caller() != null
          && row != null
          && (row.status() != RunStatus.RUNNING
              || row.fence(write.report().claim()) == RunRow.Fence.ENDED_BY_HOLDER)) {
        endedAgain.add(write.runId());
      }
    }

    private void addMessages(RunId run, @Nullable RunRow row) {
      for (RunMessage message : batch.inbox(run)) {
        awaited.putIfAbsent(new StepRow.Key(run, message.stepKey()), false);
      }
      addAwaited(run, row);
    }

    private void addAwaited(RunId run, @Nullable RunRow row) {
      if (row != null) {
        row.waitsFor().forEach(step -> awaited.putIfAbsent(new StepRow.Key(run, step), false));
      }
    }
  }

  // Large outputs take the batch path, which knows the workflow type and logs a warning.
  @Override
  public @Nullable Effects writeAlone(Session session, List<RunWrite<?>> writes)
      throws SQLException {
    RunWrite<?> first = writes.get(0);
    if (writes.size() == 1 && first instanceof StartRun start) {
      return startAlone(session, start);
    }
    if (!(first instanceof ReportWrite report) || report.report().claim().epoch() == Claim.ANY) {
      return null;
    }
    if (writes.size() == 1) {
      return switch (report.report()) {
        case Report.StepDone done
            when (report.caller() != null || StepTransitions.needsNoRead(done))
                && !large.isLarge(done.output()) ->
            stepAlone(session, report, done);
        case Report.Done done when !done.openSteps() && !large.isLarge(done.output()) ->
            finishAlone(session, report, done, null, null);
        default -> null;
      };
    }
    return writes.size() == 2
            && report.caller() == null
            && report.report() instanceof Report.StepDone step
            && StepTransitions.needsNoRead(step)
            && writes.get(1) instanceof ReportWrite second
            && second.report() instanceof Report.Done done
            && !done.openSteps()
            && done.claim().equals(step.claim())
            && !large.isLarge(step.output())
            && !large.isLarge(done.output())
        ? finishAlone(session, second, done, report, step)
        : null;
  }

  private @Nullable Effects startAlone(Session session, StartRun start) throws SQLException {
    if (start.refusal() != null
        || start.signal() != null
        || start.cleanUpMs() != 0
        || !start.lineage().equals(StartRun.Lineage.CLIENT)
        || !start.request().options().withHeaders(Map.of()).equals(StartOptions.NONE)) {
      return null;
    }
    Instant createdAt = InsertRuns.insertAlone(session, start);
    if (createdAt == null) {
      return null;
    }
    start.answer(StartResult.made(start.runId()));
    return () -> {
      RunStarts.publishStart(start, createdAt, events);
      events.committed();
    };
  }

  private static @Nullable Effects stepAlone(
      Session session, ReportWrite write, Report.StepDone done) throws SQLException {
    Caller caller = write.caller();
    boolean recorded =
        caller == null
            ? RecordStep.apply(session, write.namespace(), done)
            : RecordStep.complete(session, write.namespace(), done, caller.worker());
    if (!recorded) {
      return null;
    }
    write.answer(new ReportResult.Accepted(RunStatus.RUNNING));
    return Effects.NONE;
  }

  private @Nullable Effects finishAlone(
      Session session,
      ReportWrite write,
      Report.Done done,
      @Nullable ReportWrite stepWrite,
      Report.@Nullable StepDone step)
      throws SQLException {
    FinishRun.LastStep last =
        step == null ? null : new FinishRun.LastStep(step.stepKey(), step.output(), step.ranUs());
    FinishRun.Finished finished =
        FinishRun.apply(session, write.namespace(), done.claim(), last, done.output());
    if (finished == null) {
      return null;
    }
    write.answer(new ReportResult.Accepted(RunStatus.COMPLETED));
    if (stepWrite != null) {
      stepWrite.answer(new ReportResult.Accepted(RunStatus.RUNNING));
      if (!finished.hasStep()) {
        answerStep(session, stepWrite);
      }
    }
    RunEnd end = new RunEnd(done.claim().runId(), RunStatus.COMPLETED, done.output(), null);
    return () -> {
      events.claimEnded(done.claim());
      events.ended(end, write.namespace(), finished.workflowType());
      events.committed();
    };
  }

  /** Answers the report of a last step that had a result already with that result. */
  private void answerStep(Session session, ReportWrite stepWrite) throws SQLException {
    session.inTransaction(tx -> write(tx, List.of(stepWrite)));
  }
}
