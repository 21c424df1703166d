/**
 * Read access for users: single rows, lists and statistics of runs, steps and workers.
 *
 * <p>Only reads. Every query names the namespace that it may read. Lists are read by key, in both
 * directions: every page costs the same, and no row is lost or repeated while others are inserted
 * or deleted. An OFFSET would cause both.
 *
 * <p>A list omits large payloads unless they are requested, and ends a page before it exceeds the
 * size of one gRPC message.
 */
@NullMarked
package dev.kagzi.engine.query;

import org.jspecify.annotations.NullMarked;
