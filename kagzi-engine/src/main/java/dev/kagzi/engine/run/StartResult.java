package dev.kagzi.engine.run;

import dev.kagzi.engine.value.RunId;

/**
 * What became of a wish to start.
 *
 * @param existed true when a run with the same external id was there before, and is the answer
 * @param workflowType of the run that was there, which may be another; empty when there was none
 */
public record StartResult(RunId runId, boolean existed, String workflowType) {

  static StartResult existing(RunId run, String workflowType) {
    return new StartResult(run, true, workflowType);
  }

  /** A new run; or this very start, sent before. */
  public static StartResult made(RunId run) {
    return new StartResult(run, false, "");
  }

  /** The run that stood where this one was to be. */
  public static StartResult existing(InsertRuns.Rival rival) {
    return existing(rival.runId(), rival.workflowType());
  }
}
