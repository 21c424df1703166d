/**
 * The server: an engine between a gRPC edge, an HTTP edge and a configuration.
 *
 * <p>{@link dev.kagzi.server.KagziServer} assembles it, in a process of its own as well as inside
 * an application or a test. HTTP does not wait for the database, so that {@code /readyz} can say
 * what the server waits for; gRPC opens last and closes first, so that what is under way is
 * finished before the engine goes.
 *
 * <p>May know the engine and the edges. Must not know the SDK.
 */
@NullMarked
package dev.kagzi.server;

import org.jspecify.annotations.NullMarked;
