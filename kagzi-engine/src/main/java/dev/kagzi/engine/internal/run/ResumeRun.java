package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.run.ResumeResult;
import dev.kagzi.engine.run.Runs;
import dev.kagzi.engine.value.RunId;
import org.jspecify.annotations.Nullable;

public final class ResumeRun extends ChangeRun<ResumeResult> {
  private final String namespace;
  private final boolean force;
  private @Nullable Integer attempt;

  /**
   * @param attempt the run's attempt that failed; null: the current one
   * @param force see {@link Runs#resume}
   */
  public ResumeRun(String namespace, RunId runId, @Nullable Integer attempt, boolean force) {
    super(runId, 0);
    this.namespace = namespace;
    this.force = force;
    this.attempt = attempt;
  }

  public String namespace() {
    return namespace;
  }

  public boolean isForced() {
    return force;
  }

  /**
   * Whether the run is still in the attempt that is to be resumed. The first call fixes that
   * attempt, so that a repeated write does not resume the attempt that it has started itself.
   */
  public boolean concernsAttempt(int currentAttempt) {
    if (attempt == null) {
      attempt = currentAttempt;
    }
    return attempt == currentAttempt;
  }

  public boolean hasResumed(int currentAttempt) {
    return attempt != null && attempt + 1 == currentAttempt;
  }
}
