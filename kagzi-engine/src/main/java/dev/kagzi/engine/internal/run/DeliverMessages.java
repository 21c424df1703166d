package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.value.RunId;

/** Applies the pending messages of a run. Returns how many there were. */
public final class DeliverMessages extends ChangeRun<Integer> {
  public DeliverMessages(RunId runId) {
    super(runId, 0);
  }
}
