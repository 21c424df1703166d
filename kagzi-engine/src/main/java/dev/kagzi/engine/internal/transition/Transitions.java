package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.config.TransitionRules;
import dev.kagzi.engine.internal.run.BeginStep;
import dev.kagzi.engine.internal.run.CancelRun;
import dev.kagzi.engine.internal.run.ChangeRun;
import dev.kagzi.engine.internal.run.DeliverMessages;
import dev.kagzi.engine.internal.run.ExpireRun;
import dev.kagzi.engine.internal.run.ExpireStep;
import dev.kagzi.engine.internal.run.FailCrashedRun;
import dev.kagzi.engine.internal.run.RenewLease;
import dev.kagzi.engine.internal.run.ReportWrite;
import dev.kagzi.engine.internal.run.ResumeRun;
import dev.kagzi.engine.internal.run.RunEvents;
import dev.kagzi.engine.internal.run.RunRow;
import dev.kagzi.engine.internal.run.SignalRun;
import dev.kagzi.engine.internal.run.TakeClaim;
import dev.kagzi.engine.run.Caller;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.Versions;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Refusal;
import java.util.random.RandomGenerator;

/** Decides each write of a batch on locked and read rows, without access to the database. */
final class Transitions {
  private final RunBatch batch;
  private final StepTransitions steps;
  private final RunTransitions runs;
  private final ChildTransitions children;
  private final SignalTransitions signals;
  private final PublishedTransitions published;
  private final ChainTransitions chains;
  private final CancelTransitions cancels;

  Transitions(
      RunBatch batch,
      TransitionRules rules,
      Versions versions,
      RunEvents events,
      RandomGenerator random) {
    RunMutations mutations = new RunMutations(batch, versions, events);
    this.batch = batch;
    this.steps = new StepTransitions(batch, rules, mutations, random);
    this.cancels = new CancelTransitions(batch, mutations, events);
    this.runs = new RunTransitions(batch, rules, mutations, cancels, events, random);
    AwaitedSteps awaited = new AwaitedSteps(batch, events);
    this.signals = new SignalTransitions(batch, rules, mutations, awaited, events);
    this.published = new PublishedTransitions(batch);
    this.chains = new ChainTransitions(batch, versions, mutations, cancels);
    this.children =
        new ChildTransitions(batch, versions, mutations, cancels, signals, awaited, events);
  }

  void decide(ChangeRun<?> write) {
    switch (write) {
      case ReportWrite report -> report(report);
      case BeginStep begin -> steps.begin(begin);
      case CancelRun cancel -> runs.cancel(cancel);
      case ResumeRun resume -> runs.resume(resume);
      case ExpireRun expire -> runs.expire(expire);
      case ExpireStep expire -> steps.expire(expire);
      case FailCrashedRun crashed -> runs.failCrashed(crashed);
      case TakeClaim take -> runs.takeClaim(take);
      case RenewLease renew -> runs.renew(renew);
      case DeliverMessages deliver -> children.deliver(deliver);
      case SignalRun signal -> signals.signal(signal);
    }
  }

  private void report(ReportWrite write) {
    RunRow row = batch.row(write.runId());
    if (row == null || !row.queue().namespace().equals(write.namespace())) {
      write.refuse(Refusal.notFound("run", write.runId(), write.namespace()));
      return;
    }
    Refusal refusal = write.caller() == null ? null : steps.refuse(row, write, write.caller());
    write.answer(refusal == null ? resultOf(row, write) : new ReportResult.Refused(refusal));
    if (isHeldBySender(row, write)) {
      if (write.caller() != null) {
        row.markSimple();
      }
      batch.acknowledgeHandOutWithoutStep(row);
    }
  }

  private static boolean isHeldBySender(RunRow row, ReportWrite write) {
    Caller caller = write.caller();
    Claim claim = write.report().claim();
    return (caller == null ? row.fence(claim) : row.fence(claim, caller)) == RunRow.Fence.HELD;
  }

  private ReportResult stopReceives(RunRow row, Report.ReceivesStopped r, ReportWrite write) {
    ReportResult stopped = signals.stopReceives(row, r);
    Report.StepDone winner = r.winner();
    return winner == null || stopped instanceof ReportResult.ClaimLost
        ? stopped
        : steps.stepDone(row, winner, write);
  }

  private ReportResult resultOf(RunRow row, ReportWrite write) {
    return switch (write.report()) {
      case Report.StepStarted r -> steps.stepStarted(row, r, write);
      case Report.StepDone r -> steps.stepDone(row, r, write);
      case Report.StepFailed r -> steps.stepFailed(row, r, write.waitsInPlace());
      case Report.Sleep r -> steps.sleep(row, r, write.waitsInPlace());
      case Report.Done r -> runs.done(row, r, write.caller());
      case Report.Failed r -> runs.failed(row, r, write.caller());
      case Report.Released r -> runs.released(row, r);
      case Report.ChildStarted r -> children.startChild(row, r);
      case Report.Awaited r -> children.awaited(row, r);
      case Report.Receive r -> signals.receive(row, r, write);
      case Report.ReceivesStopped r -> stopReceives(row, r, write);
      case Report.ValuesPublished r -> published.publish(row, r);
      case Report.ContinueAsNew r -> chains.continueAsNew(row, r);
      case Report.CancelSeen r -> cancels.seen(row, r);
    };
  }
}
