package dev.kagzi.engine.value;

/** The kind of a step. */
public enum StepKind {
  FUNCTION,
  SLEEP,
  CHILD_WORKFLOW
}
