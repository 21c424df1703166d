package dev.kagzi.engine.value;

public enum StepKind {
  FUNCTION,
  SLEEP,
  CHILD_WORKFLOW
}
