package dev.kagzi.sdk;

import dev.kagzi.sdk.internal.replay.HistoryDifference;

/** The code does not do what is recorded of a run: {@link Replayer}. */
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

  public String runId() {
    return runId;
  }

  /** The number of the first step that differs, from 1; 0 if it is about no single one. */
  public int step() {
    return step;
  }

  /** What the record says there: {@code sleep cool-off}; empty if that is not the point. */
  public String recorded() {
    return recorded;
  }

  /** What the code does instead: {@code asks for step ship}; empty if that is not the point. */
  public String asked() {
    return asked;
  }
}
