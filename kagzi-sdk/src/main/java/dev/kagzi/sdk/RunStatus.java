package dev.kagzi.sdk;

/** The status of a run. */
public enum RunStatus {
  /** Due, or waiting for a retry; no worker holds it. */
  PENDING,
  /** A worker is executing it. */
  RUNNING,
  /** Suspended until its wake-up time. */
  SLEEPING,
  COMPLETED,
  FAILED,
  CANCELLED,
  /** Its deadline passed before it ended. */
  TIMED_OUT;

  /** Returns whether the run has ended; only {@link RunHandle#resume} changes it then. */
  public boolean isFinished() {
    return switch (this) {
      case PENDING, RUNNING, SLEEPING -> false;
      case COMPLETED, FAILED, CANCELLED, TIMED_OUT -> true;
    };
  }
}
