/**
 * The meters of a server in one registry, and their text for Prometheus. The engine and the gRPC
 * and HTTP servers register their meters themselves; this package adds those of the JVM. Knows no
 * other package of the server.
 */
@NullMarked
package dev.kagzi.server.metrics;

import org.jspecify.annotations.NullMarked;
