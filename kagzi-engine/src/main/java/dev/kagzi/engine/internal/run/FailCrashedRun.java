package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.value.RunId;

/** Fails a run whose workers crashed too often in a row. Returns whether the run was failed. */
public final class FailCrashedRun extends ChangeRun<Boolean> {
  public FailCrashedRun(RunId runId) {
    super(runId, 0);
  }
}
