/**
 * The benchmark: runs and steps per second, the latency of one run, and its cost in commits,
 * statements, requests and processor time.
 *
 * <p>Everything takes the path of a real application. This process is the application: SDK client
 * and worker. The server is its own process with its default settings ({@link
 * dev.kagzi.bench.ServerMain}), or is embedded in this one, and PostgreSQL is durable. Another
 * system can be measured in turn on the same PostgreSQL; it is a {@link dev.kagzi.bench.Contender}
 * too, so the same procedure measures both.
 *
 * <p>Standard output contains only the figures; progress is printed on standard error.
 */
@NullMarked
package dev.kagzi.bench;

import org.jspecify.annotations.NullMarked;
