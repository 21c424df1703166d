package dev.kagzi.sdk.internal.run;

/** How an execution ended, for the worker's counters. */
public enum RunOutcome {
  COMPLETED,
  FAILED,
  /** Parked, lost, released or blocked: another claim continues, or none is needed. */
  UNFINISHED
}
