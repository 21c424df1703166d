package dev.kagzi.server.grpc;

import dev.kagzi.engine.memory.MemoryConfig;
import dev.kagzi.server.listen.ListenConfig;

/**
 * How the gRPC edge is reached.
 *
 * @param inProcessName by which callers in this process reach it, whether it has a port or not
 * @param reflection whether clients may ask for the protocol's descriptors
 * @param version of the server, as clients are told
 * @param memory how much calls may hold
 */
public record GrpcSettings(
    ListenConfig listen,
    String inProcessName,
    boolean reflection,
    String version,
    MemoryConfig memory) {}
