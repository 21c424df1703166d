package dev.kagzi.sdk.internal.log;

/**
 * The ids that every log line about an execution of a run has.
 *
 * @param worker empty in a replay
 * @param traceId empty if the run is not traced
 */
public record LoggedRun(String run, String type, String queue, String worker, String traceId) {}
