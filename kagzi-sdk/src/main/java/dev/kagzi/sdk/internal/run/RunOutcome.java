package dev.kagzi.sdk.internal.run;

/** How an execution ended, for the worker's counters. */
public enum RunOutcome {
  COMPLETED,
  FAILED,
  /**
   * This execution did not end the run: the run was parked, lost, released or blocked, or will be
   * retried.
   */
  UNFINISHED
}
