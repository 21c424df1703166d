package dev.kagzi.sdk;

/** What a start does when its {@linkplain WorkflowStarter#id id} is already used by another run. */
public enum IdConflict {
  /** Returns the active run with this id; starts a new one if all have finished. */
  USE_EXISTING,
  /**
   * Fails with {@link RunExistsException} if a run with this id is active; starts a new one if all
   * have finished.
   */
  REJECT,
  /** Returns the latest run with this id, active or finished: at most one run is started. */
  USE_EXISTING_ANY
}
