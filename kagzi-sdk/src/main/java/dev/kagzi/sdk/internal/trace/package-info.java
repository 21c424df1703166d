/**
 * What the SDK traces, without a tracing library: starts, executions, attempts of steps, sleeps and
 * starts of children. {@code internal.otel} implements it with OpenTelemetry, if the application
 * has passed one; {@link dev.kagzi.sdk.internal.trace.Tracing#OFF} does nothing.
 *
 * <p>What the application's OpenTelemetry throws ends in {@link
 * dev.kagzi.sdk.internal.trace.GuardedTracing}. Knows the protocol, {@code log} and the public
 * package only.
 */
@NullMarked
package dev.kagzi.sdk.internal.trace;

import org.jspecify.annotations.NullMarked;
