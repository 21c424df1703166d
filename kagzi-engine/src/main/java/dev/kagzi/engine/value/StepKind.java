package dev.kagzi.engine.value;

/** What a step is. */
public enum StepKind {
  FUNCTION,
  SLEEP,
  CHILD_WORKFLOW
}
