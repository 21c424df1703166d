package dev.kagzi.server.grpc;

/**
 * How the gRPC edge is reached.
 *
 * @param port 0 for a free one
 * @param reflection whether clients may ask for the protocol's descriptors
 * @param version of the server, as clients are told
 */
public record GrpcSettings(String host, int port, boolean reflection, String version) {}
