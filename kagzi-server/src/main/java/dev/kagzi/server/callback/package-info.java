/**
 * The URLs of callbacks: which callback a token names, and whether a server has signed it. Knows
 * neither HTTP nor gRPC, which both use it. The step that makes a callback stores what its URL is
 * made of, and no secret: the token is computed again for each worker that executes the run.
 */
@NullMarked
package dev.kagzi.server.callback;

import org.jspecify.annotations.NullMarked;
