package dev.kagzi.engine.schedule;

import dev.kagzi.engine.internal.run.RunEvents;
import dev.kagzi.engine.internal.run.TakeReason;
import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import org.jspecify.annotations.NullMarked;

/** Ignores all events. */
@NullMarked
public class SilentEvents implements RunEvents {
  @Override
  public void started(QueueName queue, TypeVersion type, RunId run) {}

  @Override
  public void fired(QueueName queue, TypeVersion type) {}

  @Override
  public void slotFired(long lateMs) {}

  @Override
  public void runDue(QueueName queue, TypeVersion type, long delayMs) {}

  @Override
  public void runsDue(QueueName queue, TypeVersion type, long delayMs) {}

  @Override
  public void expires(long delayMs) {}

  @Override
  public void ended(RunEnd end, String namespace, String workflowType) {}

  @Override
  public void runRetried(QueueName queue, TypeVersion type) {}

  @Override
  public void stepRetried(QueueName queue, TypeVersion type) {}

  @Override
  public void signalSent(QueueName queue, TypeVersion type) {}

  @Override
  public void signalReceived(QueueName queue, TypeVersion type) {}

  @Override
  public void claimEnded(Claim claim) {}

  @Override
  public void claimLost(QueueName queue, TypeVersion type, TakeReason reason) {}

  @Override
  public void stop(WorkerId worker, Claim claim, RunStatus status) {}

  @Override
  public void stepEnded(WorkerId worker, Claim claim) {}

  @Override
  public void published(RunId run) {}

  @Override
  public void cancelRequested(WorkerId worker, Claim claim) {}

  @Override
  public void messagesPosted(RunId to) {}

  @Override
  public void committed() {}
}
