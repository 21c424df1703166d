/**
 * The gRPC edge: one class per service of the protocol, each of which translates a request, calls a
 * service of the engine and translates the answer. Nothing is decided here.
 *
 * <p>Handlers run on the transport's own threads, so that a call costs no change of threads. That
 * binds them: a handler may start what answers by a future, and must not wait. What blocks
 * (queries, namespaces, histories) goes to a virtual thread through {@link
 * dev.kagzi.server.grpc.BlockingCalls}.
 *
 * <p>Three classes know both languages: {@link dev.kagzi.server.grpc.Arguments} reads what clients
 * send and refuses what cannot be meant, {@link dev.kagzi.server.grpc.ResponseMapper} writes what
 * the engine answers, {@link dev.kagzi.server.grpc.GrpcErrors} writes what it refuses. Calls that
 * stay open (polls, awaits, streams) are kept in {@link dev.kagzi.server.grpc.OpenCalls}, so that a
 * server that stops can send their callers elsewhere.
 *
 * <p>May know the engine's services and values, never its database.
 */
@NullMarked
package dev.kagzi.server.grpc;

import org.jspecify.annotations.NullMarked;
