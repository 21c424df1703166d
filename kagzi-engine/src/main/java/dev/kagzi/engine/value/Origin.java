package dev.kagzi.engine.value;

public enum Origin {
  CLIENT,
  SCHEDULE,
  CHILD,
  FAILURE_HANDLER,
  RETRY
}
