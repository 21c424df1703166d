package dev.kagzi.sdk;

/**
 * What a cancel does to runs of a type: {@link WorkflowType#onCancel}. Without it, a cancel ends a
 * run at once: its code is interrupted and cannot execute further steps.
 */
public enum OnCancel {
  /**
   * The code cleans up. The running step is interrupted, or the wait ends, and that call throws a
   * {@link RunCancelledException}; if there is none, the next call of the context throws it. The
   * run ends as CANCELLED when the code ends, or when its time to clean up is over.
   */
  CLEAN_UP
}
