/**
 * Metrics of a client and its workers. The rest of the SDK knows only {@link
 * dev.kagzi.sdk.internal.metrics.ClientMetrics}, and only this package uses Micrometer. What the
 * application's registry throws ends in {@link dev.kagzi.sdk.internal.metrics.GuardedMetrics}.
 * Depends on {@code log} only.
 */
@NullMarked
package dev.kagzi.sdk.internal.metrics;

import org.jspecify.annotations.NullMarked;
