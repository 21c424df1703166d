package dev.kagzi.engine.run;

import dev.kagzi.engine.value.RunId;
import org.jspecify.annotations.Nullable;

/** The write that lets a run that has failed go on where it was. */
public final class ResumeRun extends RunWrite<ResumeResult> {
  private final String namespace;
  private final boolean force;
  private @Nullable Integer attempt;

  /**
   * @param attempt the run's attempt that failed; null: the present one
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
   * Whether the attempt is over that was to be resumed. What is said first holds: a write that is
   * sent again must not take its own effect for something to be resumed.
   */
  public boolean isAbout(int presentAttempt) {
    if (attempt == null) {
      attempt = presentAttempt;
    }
    return attempt == presentAttempt;
  }

  /** Whether the run is in the attempt that a resumption has begun. */
  public boolean hasHappened(int presentAttempt) {
    return attempt != null && attempt + 1 == presentAttempt;
  }
}
