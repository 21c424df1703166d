package dev.kagzi.server.metrics;

/**
 * The configuration of metrics.
 *
 * @param isOn whether anything is measured and {@code /metrics} exists
 * @param labelsMax how many types, and how many queues, have labels of their own
 */
public record MetricsConfig(boolean isOn, int labelsMax) {}
