package dev.kagzi.engine.run;

import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import org.jspecify.annotations.Nullable;

/** The write that ends a run from outside, whoever executes it. */
public final class CancelRun extends RunWrite<CancelResult> {
  private final String namespace;
  private final @Nullable Failure why;

  /** Without a reason the run is cancelled; with one it is terminated, which is a failure. */
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

  /** How the run ends. */
  public RunStatus end() {
    return why == null ? RunStatus.CANCELLED : RunStatus.FAILED;
  }
}
