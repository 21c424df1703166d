package dev.kagzi.sdk;

/** What a start does when its {@linkplain WorkflowStarter#id id} is in use. */
public enum IdConflict {
  /** An active run with the id is returned; one that has finished does not count. */
  USE_EXISTING,
  /** An active run with the id makes the start fail: {@link RunExistsException}. */
  REJECT,
  /** The latest run with the id is returned, active or finished: the work is done once at most. */
  USE_EXISTING_ANY
}
