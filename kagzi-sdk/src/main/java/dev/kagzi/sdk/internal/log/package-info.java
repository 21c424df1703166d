/**
 * Logging of the SDK. All other packages log the SDK's events through {@link
 * dev.kagzi.sdk.internal.log.EventLog}, so that the ids of an event are in its message under every
 * log pattern. Lines about an execution of a run have its {@link
 * dev.kagzi.sdk.internal.log.LoggedRun ids}. {@link dev.kagzi.sdk.internal.log.TelemetryGuard} logs
 * what the application's telemetry throws. Depends on no other package of the SDK.
 */
@NullMarked
package dev.kagzi.sdk.internal.log;

import org.jspecify.annotations.NullMarked;
