package dev.kagzi.engine.value;

public enum StepStatus {
  PENDING,
  RUNNING,
  COMPLETED,
  FAILED
}
