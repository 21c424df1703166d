package dev.kagzi.sdk.internal.run;

/** How an execution ended, for the worker's counters. */
public enum RunOutcome {
  COMPLETED,
  FAILED,
  /** The run was cancelled, and its code has cleaned up. */
  CANCELLED,
  /** The run was parked, lost, released, blocked or timed out, or will be retried. */
  UNFINISHED
}
