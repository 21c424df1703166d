/**
 * Metrics of a client and its workers. The rest of the SDK knows only {@link
 * dev.kagzi.sdk.internal.metrics.ClientMetrics}. Micrometer is an optional dependency: one class
 * uses it, and it is loaded only if the application passes a registry. Depends on no other package
 * of the SDK.
 */
@NullMarked
package dev.kagzi.sdk.internal.metrics;

import org.jspecify.annotations.NullMarked;
