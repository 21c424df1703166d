package dev.kagzi.sdk;

/** The status of a run. */
public enum RunStatus {
  /**
   * No worker holds it: it is due, or it becomes due after a delay (retry, blocked run, crash, or
   * jitter of its schedule).
   */
  PENDING,
  /** A worker is executing it. */
  RUNNING,
  /** Suspended: it sleeps until its wake-up time, or waits for a child, a signal or a callback. */
  SLEEPING,
  COMPLETED,
  FAILED,
  CANCELLED,
  /** Its deadline passed before it ended. */
  TIMED_OUT;

  /**
   * Returns whether the run has ended. Only {@link RunHandle#resume} and {@link
   * RunHandle#forceResume} change the status of an ended run.
   */
  public boolean isFinished() {
    return switch (this) {
      case PENDING, RUNNING, SLEEPING -> false;
      case COMPLETED, FAILED, CANCELLED, TIMED_OUT -> true;
    };
  }
}
