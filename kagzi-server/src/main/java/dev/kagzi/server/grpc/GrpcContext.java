package dev.kagzi.server.grpc;

import dev.kagzi.engine.Engine;
import dev.kagzi.server.callback.CallbackUrls;
import dev.kagzi.server.trace.ServerTracing;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;

/**
 * What the endpoints of one server share.
 *
 * @param blocking runs calls that wait for the database
 * @param senders threads that write messages to streams
 * @param timer ends waits; its tasks must be short
 * @param calls the open polls, awaits and streams
 */
record GrpcContext(
    Engine engine,
    BlockingCalls blocking,
    Executor senders,
    ScheduledExecutorService timer,
    OpenCalls calls,
    CallMemory memory,
    ServerTracing tracing,
    CallbackUrls callbacks) {}
