package dev.kagzi.sdk.internal.run;

/** How an execution ended, as the worker counts it. */
public enum RunOutcome {
  COMPLETED,
  FAILED,
  /** Parked, lost, released, blocked: somebody goes on with it, or nobody needs to. */
  UNFINISHED
}
