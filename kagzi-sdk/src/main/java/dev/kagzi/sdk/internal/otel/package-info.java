/**
 * Traces with OpenTelemetry, through its API alone: the application provides SDK and exporter.
 *
 * <p>Only this package and {@code Kagzi.Builder.openTelemetry} mention OpenTelemetry.
 *
 * <p>The spans of a run are in the trace of its start, whose context is in the headers of the run.
 * A span is exported when it ends. An execution whose process is killed never ends, so it must not
 * be the parent of anything: each execution first exports a short span, {@code kagzi.claim}, which
 * is the parent of its steps, sleeps, receives and children.
 */
@NullMarked
package dev.kagzi.sdk.internal.otel;

import org.jspecify.annotations.NullMarked;
