package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;

/** Events published after a commit, on the thread that committed: must not block or throw. */
public interface RunEvents {
  /** Published before all other events of a run; not published for a run of a schedule. */
  void started(QueueName queue, TypeVersion type, RunId run);

  /** A run of a schedule has started. */
  void fired(QueueName queue, TypeVersion type);

  /** A slot of a schedule has become a run, this long after its time. */
  void slotFired(long lateMs);

  /** One run can be claimed after the delay. */
  void runDue(QueueName queue, TypeVersion type, long delayMs);

  /** Several runs of a type can be claimed, the first of them after the delay. */
  void runsDue(QueueName queue, TypeVersion type, long delayMs);

  void expires(long delayMs);

  void ended(RunEnd end, String namespace, String workflowType);

  /** A failed run is executed again, as a whole. */
  void runRetried(QueueName queue, TypeVersion type);

  /** A failed step is executed again. */
  void stepRetried(QueueName queue, TypeVersion type);

  /** A signal was stored; not published for an answer of a callback. */
  void signalSent(QueueName queue, TypeVersion type);

  /** A step has received a signal; not published for an answer of a callback. */
  void signalReceived(QueueName queue, TypeVersion type);

  void claimEnded(Claim claim);

  /** A claim was taken from its worker. */
  void claimLost(QueueName queue, TypeVersion type, TakeReason reason);

  /** A worker must stop a run that it has lost or that has ended. */
  void stop(WorkerId worker, Claim claim, RunStatus status);

  /** A running run has got a message or a signal: its worker can ask for results of steps. */
  void stepEnded(WorkerId worker, Claim claim);

  /** The run's code has published values. */
  void published(RunId run);

  /** A cancel of a running run was requested: its worker interrupts it, and cleans up. */
  void cancelRequested(WorkerId worker, Claim claim);

  void messagesPosted(RunId to);

  /** All events of a commit were published: tasks that they queued can answer polls now. */
  void committed();
}
