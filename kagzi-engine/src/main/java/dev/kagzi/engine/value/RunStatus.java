package dev.kagzi.engine.value;

/** Where a run is in its life. SCHEDULED and PAUSED belong to templates of schedules. */
public enum RunStatus {
  PENDING,
  RUNNING,
  SLEEPING,
  COMPLETED,
  FAILED,
  CANCELLED,
  SCHEDULED,
  PAUSED,
  TIMED_OUT;

  /** True when nothing will happen any more. */
  public boolean isFinal() {
    return this == COMPLETED || this == FAILED || this == CANCELLED || this == TIMED_OUT;
  }
}
