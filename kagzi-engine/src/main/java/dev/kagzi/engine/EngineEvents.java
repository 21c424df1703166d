package dev.kagzi.engine;

import dev.kagzi.engine.dispatch.Dispatcher;
import dev.kagzi.engine.notification.Notifier;
import dev.kagzi.engine.notification.ServerMessage;
import dev.kagzi.engine.run.RunCompletions;
import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.run.RunEvents;
import dev.kagzi.engine.transition.StepCounts;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.Workers;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Brings what was committed to whoever waits for it: here, and on other servers. */
final class EngineEvents implements RunEvents {
  private final RunCompletions endings;
  private final Notifier notifier;
  private final StepCounts stepCounts;
  private final Consumer<RunId> deliver;
  private final LongConsumer expires;
  private volatile @Nullable Dispatcher gates;
  private volatile @Nullable Workers workers;

  EngineEvents(
      RunCompletions endings,
      Notifier notifier,
      StepCounts stepCounts,
      Consumer<RunId> deliver,
      LongConsumer expires) {
    this.endings = endings;
    this.notifier = notifier;
    this.stepCounts = stepCounts;
    this.deliver = deliver;
    this.expires = expires;
  }

  /** The journal comes before those who write to it: they are connected once all are there. */
  void connect(Dispatcher allGates, Workers allWorkers) {
    this.gates = allGates;
    this.workers = allWorkers;
  }

  @Override
  public void started(String namespace, RunId run) {
    endings.started(namespace, run);
  }

  @Override
  public void due(QueueName queue, TypeVersion type, long delayMs) {
    if (gates != null) {
      gates.due(queue, type, delayMs);
    }
    notifier.tell(new ServerMessage.Work(queue, type, delayMs));
  }

  @Override
  public void someDue(QueueName queue, TypeVersion type, long delayMs) {
    if (gates != null) {
      gates.someDue(queue, type, delayMs);
    }
    notifier.tell(new ServerMessage.Work(queue, type, delayMs));
  }

  @Override
  public void expires(long delayMs) {
    expires.accept(delayMs);
  }

  @Override
  public void ended(RunEnd end) {
    endings.ended(end);
    notifier.tell(new ServerMessage.Ended(end.runId()));
  }

  @Override
  public void claimEnded(Claim claim) {
    stepCounts.ended(claim.runId());
    if (gates != null) {
      gates.claimEnded(claim);
    }
  }

  @Override
  public void stop(WorkerId worker, Claim claim, RunStatus status) {
    if (workers != null) {
      workers.stop(worker, claim, status);
    }
  }

  @Override
  public void wake(WorkerId worker, Claim claim) {
    if (workers != null) {
      workers.wake(worker, claim);
    }
  }

  @Override
  public void messages(RunId to) {
    deliver.accept(to);
  }

  @Override
  public void committed() {
    if (gates != null) {
      gates.flush();
    }
  }
}
