package dev.kagzi.server.grpc;

import dev.kagzi.engine.Engine;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;

/**
 * What the endpoints of one server share.
 *
 * @param blocking for what waits for the database
 * @param senders moves messages into streams
 * @param timer ends waits; its tasks must be short
 * @param calls what is open
 * @param memory what calls may hold
 */
record GrpcContext(
    Engine engine,
    BlockingCalls blocking,
    Executor senders,
    ScheduledExecutorService timer,
    OpenCalls calls,
    CallMemory memory) {}
