package dev.kagzi.torture;

import java.util.Set;

/**
 * A run as the tables have it.
 *
 * @param type the scenario
 * @param status in the words of the tables
 * @param epoch of the last claim
 * @param endedEpoch of the last claim that gave the run back or ended it itself
 * @param output empty unless completed
 * @param error what the run failed with; empty if nothing
 * @param finishedMicros by the database's clock; 0 if unfinished
 */
record RunRecord(
    String runId,
    String type,
    String status,
    int epoch,
    int endedEpoch,
    String input,
    String output,
    String error,
    long finishedMicros) {

  static final String COMPLETED = "COMPLETED";
  static final String FAILED = "FAILED";
  static final String CANCELLED = "CANCELLED";
  private static final Set<String> ENDS = Set.of(COMPLETED, FAILED, CANCELLED, "TIMED_OUT");

  boolean hasEnded() {
    return ENDS.contains(status);
  }
}
