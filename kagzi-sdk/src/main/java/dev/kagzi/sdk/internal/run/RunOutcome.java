package dev.kagzi.sdk.internal.run;

/** How an execution ended, for the worker's counters. */
public enum RunOutcome {
  COMPLETED,
  FAILED,
  /** The run was parked, lost, released or blocked, or will be retried. */
  UNFINISHED
}
