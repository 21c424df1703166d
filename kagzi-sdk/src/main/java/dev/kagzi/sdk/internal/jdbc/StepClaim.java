package dev.kagzi.sdk.internal.jdbc;

/** A step, and the claim that executes it. */
public record StepClaim(String namespace, String runId, String stepKey, int epoch) {}
