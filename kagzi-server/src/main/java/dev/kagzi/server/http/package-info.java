/**
 * The HTTP server: health checks, metrics, answers of callbacks, and the dashboard or, for curl, a
 * start page in plain text. It starts without waiting for the database, so that {@code /readyz} can
 * report why the server is not ready.
 *
 * <p>Like the gRPC server, it only translates requests and responses; the engine makes all
 * decisions.
 */
@NullMarked
package dev.kagzi.server.http;

import org.jspecify.annotations.NullMarked;
