package dev.kagzi.sdk.internal.run;

/** Identifies a run. */
public record RunRef(String namespace, String runId, String workflowType) {}
