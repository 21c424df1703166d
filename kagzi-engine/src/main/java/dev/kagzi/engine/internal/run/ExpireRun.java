package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.value.RunId;

/** Times out a run whose deadline has passed. Returns whether the run was timed out. */
public final class ExpireRun extends ChangeRun<Boolean> {
  public ExpireRun(RunId runId) {
    super(runId, 0);
  }
}
