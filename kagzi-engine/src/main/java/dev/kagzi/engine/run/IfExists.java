package dev.kagzi.engine.run;

/** What a start does when a run with its external id is there. */
public enum IfExists {
  /** The active run is answered; one that has ended does not count. */
  USE_EXISTING,
  /** The start is refused while a run is active. */
  REJECT,
  /** The latest run is answered, whether it is active or has ended. */
  USE_EXISTING_ANY
}
