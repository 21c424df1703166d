/**
 * Where a server listens, and whom it lets in: addresses, token, certificates. Both edges are
 * opened by what stands here, so that no door is locked less well than the other.
 *
 * <p>Must not know gRPC or HTTP.
 */
@NullMarked
package dev.kagzi.server.listen;

import org.jspecify.annotations.NullMarked;
