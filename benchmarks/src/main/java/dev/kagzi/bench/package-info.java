/**
 * The benchmark: how many runs and steps per second, how long one run takes, and what it costs in
 * commits, statements, requests and processor time.
 *
 * <p>Everything goes the way of a real application. This process is the application: SDK client and
 * worker. The server is a process of its own with its shipped defaults ({@link
 * dev.kagzi.bench.ServerMain}), PostgreSQL is durable. Another system may be measured in turn on
 * the same PostgreSQL; it is a {@link dev.kagzi.bench.Contender} too, so the same procedure
 * measures both.
 *
 * <p>Standard output belongs to the figures alone; what goes on is said on standard error.
 */
@NullMarked
package dev.kagzi.bench;

import org.jspecify.annotations.NullMarked;
