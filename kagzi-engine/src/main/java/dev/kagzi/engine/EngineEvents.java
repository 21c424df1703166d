package dev.kagzi.engine;

import dev.kagzi.engine.internal.dispatch.Dispatcher;
import dev.kagzi.engine.internal.notification.Notifier;
import dev.kagzi.engine.internal.notification.ServerMessage;
import dev.kagzi.engine.internal.run.RunEvents;
import dev.kagzi.engine.internal.run.StepCounts;
import dev.kagzi.engine.internal.run.TakeReason;
import dev.kagzi.engine.metrics.RunMetrics;
import dev.kagzi.engine.run.PublishedWatches;
import dev.kagzi.engine.run.RunCompletions;
import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.Workers;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

/** Publishes committed changes to the components of this server, and to other servers. */
final class EngineEvents implements RunEvents {
  private final RunMetrics metrics;
  private final RunCompletions completions;
  private final PublishedWatches published;
  private final Notifier notifier;
  private final StepCounts stepCounts;
  private final Consumer<RunId> deliver;
  private final LongConsumer expires;
  private final Supplier<Dispatcher> dispatcher;
  private final Supplier<Workers> workers;

  /**
   * {@code dispatcher} and {@code workers} are suppliers, because the objects are created after the
   * journal. They exist before its first write.
   */
  EngineEvents(
      RunMetrics metrics,
      RunCompletions completions,
      PublishedWatches published,
      Notifier notifier,
      StepCounts stepCounts,
      Consumer<RunId> deliver,
      LongConsumer expires,
      Supplier<Dispatcher> dispatcher,
      Supplier<Workers> workers) {
    this.metrics = metrics;
    this.completions = completions;
    this.published = published;
    this.notifier = notifier;
    this.stepCounts = stepCounts;
    this.deliver = deliver;
    this.expires = expires;
    this.dispatcher = dispatcher;
    this.workers = workers;
  }

  @Override
  public void started(QueueName queue, TypeVersion type, RunId run) {
    metrics.started(queue.namespace(), type.type());
    completions.started(queue.namespace(), run);
  }

  @Override
  public void fired(QueueName queue, TypeVersion type) {
    metrics.started(queue.namespace(), type.type());
  }

  @Override
  public void slotFired(long lateMs) {
    metrics.slotFired(lateMs);
  }

  @Override
  public void runDue(QueueName queue, TypeVersion type, long delayMs) {
    if (!dispatcher.get().runDue(queue, type, delayMs)) {
      notifier.publish(new ServerMessage.Work(queue, type, delayMs, 1));
    }
  }

  @Override
  public void runsDue(QueueName queue, TypeVersion type, long delayMs) {
    dispatcher.get().runsDue(queue, type, delayMs, ServerMessage.Work.UNKNOWN);
    notifier.publish(new ServerMessage.Work(queue, type, delayMs, ServerMessage.Work.UNKNOWN));
  }

  @Override
  public void expires(long delayMs) {
    expires.accept(delayMs);
  }

  @Override
  public void ended(RunEnd end, String namespace, String workflowType) {
    metrics.ended(namespace, workflowType, end.status());
    completions.ended(end);
    published.changed(end.runId());
  }

  @Override
  public void runRetried(QueueName queue, TypeVersion type) {
    metrics.runRetried(queue.namespace(), type.type());
  }

  @Override
  public void stepRetried(QueueName queue, TypeVersion type) {
    metrics.stepRetried(queue.namespace(), type.type());
  }

  @Override
  public void signalSent(QueueName queue, TypeVersion type) {
    metrics.signalSent(queue.namespace(), type.type());
  }

  @Override
  public void signalReceived(QueueName queue, TypeVersion type) {
    metrics.signalReceived(queue.namespace(), type.type());
  }

  @Override
  public void claimEnded(Claim claim) {
    stepCounts.ended(claim.runId());
    dispatcher.get().claimEnded(claim);
  }

  @Override
  public void claimLost(QueueName queue, TypeVersion type, TakeReason reason) {
    metrics.claimLost(queue.namespace(), type.type(), reason.name(), reason.isCrash());
  }

  @Override
  public void stop(WorkerId worker, Claim claim, RunStatus status) {
    workers.get().send(new ServerMessage.Stop(worker, claim, status));
  }

  @Override
  public void stepEnded(WorkerId worker, Claim claim) {
    workers.get().send(new ServerMessage.StepEnded(worker, claim));
  }

  @Override
  public void published(RunId run) {
    published.changed(run);
  }

  @Override
  public void cancelRequested(WorkerId worker, Claim claim) {
    workers.get().send(new ServerMessage.CancelRequested(worker, claim));
  }

  @Override
  public void messagesPosted(RunId to) {
    metrics.messagePosted();
    deliver.accept(to);
  }

  @Override
  public void committed() {
    dispatcher.get().answerPolls();
  }
}
