package dev.kagzi.torture;

import java.util.Set;

/**
 * A run as the tables have it.
 *
 * @param type the scenario, or that of a handler
 * @param status in the words of the tables
 * @param epoch of the last claim
 * @param endedEpoch of the last claim that gave the run back or ended it itself
 * @param attempts how often it was tried as a whole
 * @param input of a handler: which failure it handles
 * @param output empty unless completed
 * @param error what the run failed with; empty if nothing
 * @param version of its type; empty for none
 */
record RunRecord(
    String runId,
    String type,
    String status,
    int epoch,
    int endedEpoch,
    int attempts,
    String input,
    String output,
    String error,
    Handling handling,
    Times times,
    String version,
    Family family) {

  static final String COMPLETED = "COMPLETED";
  static final String FAILED = "FAILED";
  static final String CANCELLED = "CANCELLED";
  static final String TIMED_OUT = "TIMED_OUT";
  private static final Set<String> ENDS = Set.of(COMPLETED, FAILED, CANCELLED, TIMED_OUT);

  /**
   * Who handles whose failure.
   *
   * @param handler the type that handles this run's; empty for none
   * @param failedRunId the run whose failure this one handles; empty for none
   * @param isHandler whether it was started for that
   */
  record Handling(String handler, String failedRunId, boolean isHandler) {
    static final Handling NONE = new Handling("", "", false);
  }

  /**
   * Who has started it.
   *
   * @param parentRunId empty for a run that a client has started
   */
  record Family(String parentRunId, String parentStep, boolean detached) {
    static final Family NONE = new Family("", "", false);
  }

  /**
   * By the database's clock.
   *
   * @param deadlineMicros 0 if there is none
   * @param finishedMicros 0 if unfinished
   */
  record Times(long createdMicros, long deadlineMicros, long finishedMicros) {}

  boolean hasEnded() {
    return ENDS.contains(status);
  }

  /** Failed or out of time: what a handler is started for, and what may be resumed. */
  boolean hasFailed() {
    return status.equals(FAILED) || status.equals(TIMED_OUT);
  }

  long finishedMicros() {
    return times.finishedMicros;
  }
}
