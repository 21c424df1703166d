/**
 * Where a server listens, and which callers it accepts: addresses, token, certificates. The gRPC
 * and the HTTP server both read it, so that neither is less protected than the other.
 *
 * <p>Must not know gRPC or HTTP.
 */
@NullMarked
package dev.kagzi.server.listen;

import org.jspecify.annotations.NullMarked;
