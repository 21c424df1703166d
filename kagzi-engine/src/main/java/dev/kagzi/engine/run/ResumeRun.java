package dev.kagzi.engine.run;

import dev.kagzi.engine.value.RunId;

/** The write that lets a run that has failed go on where it was. */
public final class ResumeRun extends RunWrite<ResumeResult> {
  private final String namespace;

  public ResumeRun(String namespace, RunId runId) {
    super(runId, 0);
    this.namespace = namespace;
  }

  public String namespace() {
    return namespace;
  }
}
