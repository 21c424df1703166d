/**
 * The gRPC server: one class per service of the protocol. Each translates a request, calls a
 * service of the engine and translates the result. Nothing is decided here.
 *
 * <p>Handlers of network calls run on the event loops, so that a call costs no thread switch. So a
 * handler must not block; it may start work that completes a future. Blocking work (queries,
 * namespaces, histories) goes to a virtual thread through {@link
 * dev.kagzi.server.grpc.BlockingCalls}.
 *
 * <p>May use the engine's services and values, never its database.
 */
@NullMarked
package dev.kagzi.server.grpc;

import org.jspecify.annotations.NullMarked;
