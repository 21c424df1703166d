package dev.kagzi.engine.internal.run;

/**
 * Why a claim is taken away from its holder. The first six are the ways in which a run recovers
 * from a crashed or hung worker; {@code worker.Recovery} has a method for each. Logs, events of
 * workers and the documentation use these words.
 */
public enum TakeReason {
  /** The worker's Attach stream broke. It has not attached again and sent no heartbeat since. */
  STREAM_BROKEN(Holder.CRASHED, "its connection broke and no heartbeat came"),
  WORKER_STALE(Holder.CRASHED, "no heartbeat"),
  LEASE_ENDED(Holder.CRASHED, "no heartbeat listed the claim during its lease"),
  /** The worker is offline, and the server that found that out has not released the claim. */
  CLAIM_ORPHANED(Holder.CRASHED, "its worker went offline and nobody released the claim"),
  /**
   * The worker has had the claim since before its previous heartbeat, and for at least one
   * heartbeat interval, and does not list it.
   */
  CLAIM_UNLISTED(Holder.WITHOUT_TASK, "its worker does not list the claim"),
  STEP_HUNG(Holder.HANGS, "a step timed out and its worker did not report it"),

  WORKER_FORCED_OFFLINE(Holder.CRASHED, "forced by an administrator"),
  WORKER_LEFT(Holder.LEFT, "deregistered"),
  TASK_NOT_TAKEN(Holder.WITHOUT_TASK, "no poll took the task");

  /** What the holder is assumed to do; decides what the row of the run remembers of the claim. */
  enum Holder {
    /** It is dead or unreachable. Counts as a crash of the run. It may still report the end. */
    CRASHED,
    /** It has left, but its code may still be executing. It may still report the end. */
    LEFT,
    /** Its code does not return. Its later reports are refused. */
    HANGS,
    /** It does not execute the run. The claim counts as ended by its holder. */
    WITHOUT_TASK
  }

  private final Holder holder;
  private final String text;

  TakeReason(Holder holder, String text) {
    this.holder = holder;
    this.text = text;
  }

  Holder holder() {
    return holder;
  }

  /** Whether it counts as a crash: after several in a row, the run waits longer or fails. */
  public boolean isCrash() {
    return holder == Holder.CRASHED;
  }

  public String text() {
    return text;
  }
}
