package dev.kagzi.torture;

/**
 * A row of one signal, or of the answer of a callback, in the tables.
 *
 * @param number its place in the order of arrival
 * @param id the sender's, which is also the value of the signal
 * @param step the step that received it; empty if none did
 * @param answer the value that a callback was answered with; empty for a signal
 */
record SignalRecord(String runId, int number, String id, String step, String answer) {
  private static final String CALLBACK = "callback:";

  SignalRecord(String runId, int number, String id, String step) {
    this(runId, number, id, step, "");
  }

  boolean isAnswer() {
    return id.startsWith(CALLBACK);
  }

  /** The step that made the callback. */
  String callback() {
    return id.substring(CALLBACK.length());
  }
}
