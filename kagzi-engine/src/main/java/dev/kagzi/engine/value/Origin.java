package dev.kagzi.engine.value;

/** Who started a run. */
public enum Origin {
  CLIENT,
  SCHEDULE,
  CHILD,
  FAILURE_HANDLER,
  RETRY
}
