/**
 * The server: the engine, its gRPC and HTTP servers, and its configuration.
 *
 * <p>{@link dev.kagzi.server.KagziServer} assembles them, in a process of its own or inside an
 * application or a test. HTTP starts without waiting for the database, so that {@code /readyz} can
 * report what the server waits for. gRPC opens after the engine has started and closes before it,
 * so that calls in flight finish.
 *
 * <p>May use the engine and both servers. Must not use the SDK.
 */
@NullMarked
package dev.kagzi.server;

import org.jspecify.annotations.NullMarked;
