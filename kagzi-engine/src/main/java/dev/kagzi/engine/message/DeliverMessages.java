package dev.kagzi.engine.message;

import dev.kagzi.engine.run.RunWrite;
import dev.kagzi.engine.value.RunId;

/** Applies the pending messages of a run. Returns how many there were. */
public final class DeliverMessages extends RunWrite<Integer> {
  public DeliverMessages(RunId runId) {
    super(runId, 0);
  }
}
