/** Tests parts of the gRPC server without a server. */
@NullMarked
package dev.kagzi.server.grpc;

import org.jspecify.annotations.NullMarked;
