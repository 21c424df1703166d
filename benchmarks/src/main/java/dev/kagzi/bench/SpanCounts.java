package dev.kagzi.bench;

/**
 * Counts of the spans of clients and workers since the start.
 *
 * @param ended ended in the SDK, and given to OpenTelemetry's batch processor
 * @param arrived arrived at the collector; the batch processor drops what it cannot export in time
 */
record SpanCounts(long ended, long arrived) {}
