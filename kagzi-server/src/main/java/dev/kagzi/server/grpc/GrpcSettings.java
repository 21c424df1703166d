package dev.kagzi.server.grpc;

import dev.kagzi.engine.config.MemoryConfig;
import dev.kagzi.server.callback.CallbackUrls;
import dev.kagzi.server.listen.ListenConfig;
import dev.kagzi.server.trace.ServerTracing;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * The settings of the gRPC server.
 *
 * @param inProcessName the name for callers in this process, with or without a port
 * @param version the server's version, as GetServerInfo reports it
 * @param tracing closed by the server
 * @param metrics where calls are measured
 * @param callbacks makes the URLs that workers get
 */
public record GrpcSettings(
    ListenConfig listen,
    String inProcessName,
    boolean reflection,
    String version,
    MemoryConfig memory,
    ServerTracing tracing,
    MeterRegistry metrics,
    CallbackUrls callbacks) {}
