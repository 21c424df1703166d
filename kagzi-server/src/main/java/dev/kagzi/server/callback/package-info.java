/**
 * The URLs of callbacks: which callback a token names, and whether a server has signed it. HTTP and
 * gRPC use this package, and it knows neither. The step that creates a callback stores the public
 * URL and the id of a key, but no secret: the token is computed again whenever the URL is sent to a
 * worker.
 */
@NullMarked
package dev.kagzi.server.callback;

import org.jspecify.annotations.NullMarked;
