package dev.kagzi.engine.value;

/** Where one attempt of a step is. */
public enum StepStatus {
  PENDING,
  RUNNING,
  COMPLETED,
  FAILED
}
