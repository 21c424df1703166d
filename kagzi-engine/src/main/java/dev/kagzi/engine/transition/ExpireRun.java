package dev.kagzi.engine.transition;

import dev.kagzi.engine.run.RunWrite;
import dev.kagzi.engine.value.RunId;

/** The write that ends a run whose time is over; answers whether it did. */
public final class ExpireRun extends RunWrite<Boolean> {
  public ExpireRun(RunId runId) {
    super(runId, 0);
  }
}
