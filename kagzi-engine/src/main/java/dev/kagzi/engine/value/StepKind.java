package dev.kagzi.engine.value;

public enum StepKind {
  FUNCTION,
  SLEEP,
  CHILD_WORKFLOW,
  /** Receives a signal, or the answer of a callback. */
  SIGNAL,
  /** Makes a callback. */
  CALLBACK
}
