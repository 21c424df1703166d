/**
 * Metrics of a client and its workers. Only this package and {@code Kagzi.Builder.meterRegistry}
 * mention Micrometer; the rest of the SDK knows only {@link
 * dev.kagzi.sdk.internal.metrics.ClientMetrics}. {@link
 * dev.kagzi.sdk.internal.metrics.GuardedMetrics} catches what the application's registry throws.
 * Depends on {@code log} only.
 */
@NullMarked
package dev.kagzi.sdk.internal.metrics;

import org.jspecify.annotations.NullMarked;
