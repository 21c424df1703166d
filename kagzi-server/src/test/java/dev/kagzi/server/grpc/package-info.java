/** The parts of the gRPC edge that are tested without a server. */
@NullMarked
package dev.kagzi.server.grpc;

import org.jspecify.annotations.NullMarked;
