package dev.kagzi.engine.value;

/** The status of a run. SCHEDULED and PAUSED are only used by the templates of schedules. */
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

  public boolean isFinal() {
    return this == COMPLETED || this == FAILED || this == CANCELLED || this == TIMED_OUT;
  }
}
