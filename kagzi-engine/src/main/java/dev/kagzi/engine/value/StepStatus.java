package dev.kagzi.engine.value;

/** The status of a step attempt. */
public enum StepStatus {
  PENDING,
  RUNNING,
  COMPLETED,
  FAILED
}
