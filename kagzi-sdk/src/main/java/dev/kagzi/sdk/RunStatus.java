package dev.kagzi.sdk;

/** Where a run is in its life. */
public enum RunStatus {
  /** Due, or waiting for a retry; no worker has it. */
  PENDING,
  /** A worker has it. */
  RUNNING,
  /** Asleep until its wake time. */
  SLEEPING,
  COMPLETED,
  FAILED,
  CANCELLED,
  /** Its deadline has passed. */
  TIMED_OUT;

  /** Nothing more happens to the run, unless somebody {@linkplain RunHandle#resume resumes} it. */
  public boolean isFinished() {
    return switch (this) {
      case PENDING, RUNNING, SLEEPING -> false;
      case COMPLETED, FAILED, CANCELLED, TIMED_OUT -> true;
    };
  }
}
