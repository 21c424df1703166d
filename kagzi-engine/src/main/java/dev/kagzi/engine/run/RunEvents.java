package dev.kagzi.engine.run;

import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;

/** What is told after a commit. Called on a lane's thread: quick, without blocking or throwing. */
public interface RunEvents {
  /** A run has started; told before anything else of it. */
  void started(String namespace, RunId run);

  /** One run can be claimed after so many milliseconds. */
  void due(QueueName queue, TypeVersion type, long delayMs);

  /** Any number of runs of a type can be claimed, the first of them after so many milliseconds. */
  void someDue(QueueName queue, TypeVersion type, long delayMs);

  /** Something is over after so many milliseconds: a run's time, or a step's. */
  void expires(long delayMs);

  /** A run has ended. */
  void ended(RunEnd end);

  /** A claim is no longer held. */
  void claimEnded(Claim claim);

  /** A worker executes a run that was taken from it or has ended. */
  void stop(WorkerId worker, Claim claim, RunStatus status);

  /** A step of a run that is being executed was ended by a message: its worker may ask. */
  void wake(WorkerId worker, Claim claim);

  /** A run has messages to read. */
  void messages(RunId to);

  /** All of a commit is told: what was gathered meanwhile can go out. */
  void committed();
}
