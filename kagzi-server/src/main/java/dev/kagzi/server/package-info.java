/**
 * The server: an engine between a gRPC edge, an HTTP edge and a configuration.
 *
 * <p>{@link dev.kagzi.server.KagziServer} assembles it, in a process of its own as well as inside
 * an application or a test. It starts HTTP first, so that {@code /readyz} answers while the
 * database is still coming, and stops in the opposite order, so that what is under way is finished
 * before the engine goes.
 *
 * <p>May know the engine and the edges. Must not know the SDK.
 */
@NullMarked
package dev.kagzi.server;

import org.jspecify.annotations.NullMarked;
