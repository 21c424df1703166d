package dev.kagzi.engine.transition;

import dev.kagzi.engine.run.RunWrite;
import dev.kagzi.engine.value.RunId;

/** The write that fails a run which was taken over too often; answers whether it did. */
public final class FailCrashedRun extends RunWrite<Boolean> {
  public FailCrashedRun(RunId runId) {
    super(runId, 0);
  }
}
