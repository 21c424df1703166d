package dev.kagzi.torture;

import java.util.Set;

/**
 * A row of a run in the tables.
 *
 * @param type the name of the scenario, or the type of a handler
 * @param status as in the tables
 * @param epoch of the last claim
 * @param endedEpoch of the last claim that released or ended the run itself
 * @param attempts the number of attempts of the whole run
 * @param input of a handler: which failure it handles
 * @param output empty unless completed
 * @param error what the run failed with; empty if it has not failed
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
    Family family,
    Chain chain) {

  static final String COMPLETED = "COMPLETED";
  static final String FAILED = "FAILED";
  static final String CANCELLED = "CANCELLED";
  static final String TIMED_OUT = "TIMED_OUT";
  private static final Set<String> ENDS = Set.of(COMPLETED, FAILED, CANCELLED, TIMED_OUT);

  /**
   * Which run handles which failure.
   *
   * @param handler the type that handles this run's failure; empty for none
   * @param failedRunId the run whose failure this one handles; empty for none
   * @param isHandler whether it was started as a handler
   */
  record Handling(String handler, String failedRunId, boolean isHandler) {
    static final Handling NONE = new Handling("", "", false);
  }

  /**
   * The parent of a run.
   *
   * @param parentRunId empty for a run that a client has started
   */
  record Family(String parentRunId, String parentStep, boolean detached) {
    static final Family NONE = new Family("", "", false);
  }

  /**
   * The place of a run in a chain. All are empty for other runs.
   *
   * @param continuedTo the run that this one has continued as
   * @param continuedFrom the run that has continued as this one
   * @param first the first run of the chain; empty for that run itself
   */
  record Chain(String continuedTo, String continuedFrom, String first) {
    static final Chain NONE = new Chain("", "", "");
  }

  /**
   * Times by the database's clock.
   *
   * @param deadlineMicros 0 if there is none
   * @param finishedMicros 0 if unfinished
   */
  record Times(long createdMicros, long deadlineMicros, long finishedMicros) {}

  boolean hasEnded() {
    return ENDS.contains(status);
  }

  boolean hasContinued() {
    return !chain.continuedTo.isEmpty();
  }

  /** Failed or timed out: the run starts its handler, and can be resumed. */
  boolean hasFailed() {
    return status.equals(FAILED) || status.equals(TIMED_OUT);
  }

  long finishedMicros() {
    return times.finishedMicros;
  }
}
