package dev.kagzi.sdk.internal.run;

public record RunRef(String namespace, String runId, String workflowType) {}
