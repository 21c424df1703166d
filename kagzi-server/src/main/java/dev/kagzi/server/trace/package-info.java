/**
 * Exports what the server does for a traced run to an OpenTelemetry collector, if {@code
 * otlp-endpoint} is set. Nothing of OpenTelemetry is loaded otherwise.
 *
 * <p>Only runs whose headers have a sampled {@code traceparent} are traced. The SDK's spans do not
 * depend on the server's spans.
 *
 * <p>Knows the engine's starts and tasks, and neither gRPC nor the protocol.
 */
@NullMarked
package dev.kagzi.server.trace;

import org.jspecify.annotations.NullMarked;
