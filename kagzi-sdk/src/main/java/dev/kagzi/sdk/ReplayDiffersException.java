package dev.kagzi.sdk;

import dev.kagzi.sdk.internal.replay.HistoryDifference;

/** Thrown by {@link Replayer#replay} when the code differs from the history. */
public final class ReplayDiffersException extends KagziException {
  private final String runId;
  private final int step;
  private final String recorded;
  private final String asked;

  ReplayDiffersException(RunInfo run, HistoryDifference difference) {
    super(
        ClientCode.REPLAY_DIFFERS,
        "run %s of %s: %s; was the workflow changed without a new version?"
            .formatted(run.runId(), run.type(), difference.message()),
        null);
    this.runId = run.runId();
    this.step = difference.number();
    this.recorded = difference.recorded();
    this.asked = difference.asked();
  }

  /** Returns the id of the recorded run. */
  public String runId() {
    return runId;
  }

  /**
   * Returns the number of the first step that differs, from 1; 0 if the difference concerns no
   * single step.
   */
  public int step() {
    return step;
  }

  /** Returns what was recorded, for example {@code sleep cool-off}; empty if not applicable. */
  public String recorded() {
    return recorded;
  }

  /** Returns what the code did, for example {@code asks for step ship}; empty if not applicable. */
  public String asked() {
    return asked;
  }
}
