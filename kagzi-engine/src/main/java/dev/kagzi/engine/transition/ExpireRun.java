package dev.kagzi.engine.transition;

import dev.kagzi.engine.run.RunWrite;
import dev.kagzi.engine.value.RunId;

/** Times out a run whose deadline has passed. Returns whether the run was timed out. */
public final class ExpireRun extends RunWrite<Boolean> {
  public ExpireRun(RunId runId) {
    super(runId, 0);
  }
}
