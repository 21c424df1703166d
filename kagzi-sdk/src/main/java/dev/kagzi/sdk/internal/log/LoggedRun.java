package dev.kagzi.sdk.internal.log;

/**
 * The ids that every log line about an execution of a run has.
 *
 * @param workflowId the id of the start; empty if it had none
 * @param worker empty in a replay
 * @param traceId empty if the run is not traced
 */
public record LoggedRun(
    String run, String workflowId, String type, String queue, String worker, String traceId) {}
