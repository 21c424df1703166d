package dev.kagzi.sdk.internal.run;

/** Names a run. */
public record RunRef(String namespace, String runId, String workflowType) {}
