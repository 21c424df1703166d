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

/** Publishes committed changes to the components of this server, and to other servers. */
final class EngineEvents implements RunEvents {
  private final RunCompletions completions;
  private final Notifier notifier;
  private final StepCounts stepCounts;
  private final Consumer<RunId> deliver;
  private final LongConsumer expires;
  private volatile @Nullable Dispatcher dispatcher;
  private volatile @Nullable Workers workers;

  EngineEvents(
      RunCompletions completions,
      Notifier notifier,
      StepCounts stepCounts,
      Consumer<RunId> deliver,
      LongConsumer expires) {
    this.completions = completions;
    this.notifier = notifier;
    this.stepCounts = stepCounts;
    this.deliver = deliver;
    this.expires = expires;
  }

  /** Sets the receivers that are created after the journal. Call once, before the first write. */
  void connect(Dispatcher newDispatcher, Workers newWorkers) {
    this.dispatcher = newDispatcher;
    this.workers = newWorkers;
  }

  @Override
  public void started(String namespace, RunId run) {
    completions.started(namespace, run);
  }

  @Override
  public void due(QueueName queue, TypeVersion type, long delayMs) {
    if (dispatcher != null) {
      dispatcher.runDue(queue, type, delayMs);
    }
    notifier.publish(new ServerMessage.Work(queue, type, delayMs));
  }

  @Override
  public void someDue(QueueName queue, TypeVersion type, long delayMs) {
    if (dispatcher != null) {
      dispatcher.runsDue(queue, type, delayMs);
    }
    notifier.publish(new ServerMessage.Work(queue, type, delayMs));
  }

  @Override
  public void expires(long delayMs) {
    expires.accept(delayMs);
  }

  @Override
  public void ended(RunEnd end) {
    completions.ended(end);
    notifier.publish(new ServerMessage.Ended(end.runId()));
  }

  @Override
  public void claimEnded(Claim claim) {
    stepCounts.ended(claim.runId());
    if (dispatcher != null) {
      dispatcher.claimEnded(claim);
    }
  }

  @Override
  public void stop(WorkerId worker, Claim claim, RunStatus status) {
    if (workers != null) {
      workers.send(new ServerMessage.Stop(worker, claim, status));
    }
  }

  @Override
  public void wake(WorkerId worker, Claim claim) {
    if (workers != null) {
      workers.send(new ServerMessage.Wake(worker, claim));
    }
  }

  @Override
  public void messages(RunId to) {
    deliver.accept(to);
  }

  @Override
  public void committed() {
    if (dispatcher != null) {
      dispatcher.answerPolls();
    }
  }
}
