/**
 * What the SDK traces, without a tracing library: starts, executions, attempts of steps, sleeps,
 * receives and starts of children. {@code internal.otel} implements it with OpenTelemetry, if the
 * application has passed one; {@link dev.kagzi.sdk.internal.trace.Tracing#OFF} does nothing.
 *
 * <p>{@link dev.kagzi.sdk.internal.trace.GuardedTracing} catches what the application's
 * OpenTelemetry throws. Knows the protocol, {@code log} and the public package only.
 */
@NullMarked
package dev.kagzi.sdk.internal.trace;

import org.jspecify.annotations.NullMarked;
