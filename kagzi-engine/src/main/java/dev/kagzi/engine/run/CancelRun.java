package dev.kagzi.engine.run;

import dev.kagzi.engine.value.RunId;

/** The write that cancels a run, whoever executes it. */
public final class CancelRun extends RunWrite<CancelResult> {
  private final String namespace;

  public CancelRun(String namespace, RunId runId) {
    super(runId, 0);
    this.namespace = namespace;
  }

  public String namespace() {
    return namespace;
  }
}
