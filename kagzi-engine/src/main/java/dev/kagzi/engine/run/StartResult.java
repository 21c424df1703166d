package dev.kagzi.engine.run;

import dev.kagzi.engine.value.RunId;

/**
 * The result of a start.
 *
 * @param existed true if {@code runId} is an existing run with the same external id
 * @param workflowType the type of the existing run, which may differ from the requested one; empty
 *     for a new run
 */
public record StartResult(RunId runId, boolean existed, String workflowType) {

  public static StartResult existing(RunId run, String workflowType) {
    return new StartResult(run, true, workflowType);
  }

  /** A run that this start has created, now or at an earlier try. */
  public static StartResult made(RunId run) {
    return new StartResult(run, false, "");
  }
}
