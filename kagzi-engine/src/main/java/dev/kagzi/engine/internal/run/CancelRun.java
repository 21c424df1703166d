package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.run.CancelResult;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import org.jspecify.annotations.Nullable;

/** Cancels or terminates a run, whether or not a worker executes it. */
public final class CancelRun extends ChangeRun<CancelResult> {
  private final String namespace;
  private final @Nullable Failure why;

  /** Without a failure the run becomes CANCELLED; with one it is terminated and becomes FAILED. */
  public CancelRun(String namespace, RunId runId, @Nullable Failure why) {
    super(runId, why == null ? 0 : why.bytes());
    this.namespace = namespace;
    this.why = why;
  }

  public String namespace() {
    return namespace;
  }

  public @Nullable Failure why() {
    return why;
  }

  public RunStatus end() {
    return why == null ? RunStatus.CANCELLED : RunStatus.FAILED;
  }
}
