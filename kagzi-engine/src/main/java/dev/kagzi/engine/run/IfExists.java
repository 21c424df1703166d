package dev.kagzi.engine.run;

/** What a start does if a run with its external id exists. */
public enum IfExists {
  /** Returns the active run; an ended run is ignored. */
  USE_EXISTING,
  /** Refuses the start while a run is active. */
  REJECT,
  USE_EXISTING_ANY
}
