package dev.kagzi.sdk;

/**
 * What a cancel does to runs of a type: {@link WorkflowType#onCancel}. Without it, a cancel ends a
 * run at once, and its code sees nothing of it.
 */
public enum OnCancel {
  /**
   * The code cleans up. The running step is interrupted, a wait ends, and the next call of the
   * context throws a {@link RunCancelledException}. The run ends as CANCELLED when the code ends.
   */
  CLEAN_UP
}
