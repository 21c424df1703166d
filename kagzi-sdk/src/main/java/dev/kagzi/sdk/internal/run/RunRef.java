package dev.kagzi.sdk.internal.run;

import java.util.Map;

public record RunRef(
    String namespace, String runId, String workflowType, Map<String, String> headers) {}
