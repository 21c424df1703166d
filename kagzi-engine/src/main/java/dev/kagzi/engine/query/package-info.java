/**
 * Read access for users: single rows, lists and statistics of runs, steps and workers.
 *
 * <p>A query reads one namespace; some also accept null for all. Lists are read by key, in both
 * directions: every page costs the same, and no row is lost or repeated while others are inserted
 * or deleted. With OFFSET, later pages would cost more, and rows would be lost or repeated.
 *
 * <p>A list omits large payloads unless they are requested, and ends a page before it exceeds the
 * size of one gRPC message.
 */
@NullMarked
package dev.kagzi.engine.query;

import org.jspecify.annotations.NullMarked;
