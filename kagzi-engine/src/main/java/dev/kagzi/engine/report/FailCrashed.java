package dev.kagzi.engine.report;

import dev.kagzi.engine.run.RunWrite;
import dev.kagzi.engine.value.RunId;

/** The write that fails a run which was taken over too often; answers whether it did. */
public final class FailCrashed extends RunWrite<Boolean> {
  public FailCrashed(RunId runId) {
    super(runId, 0);
  }
}
