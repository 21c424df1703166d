/**
 * Messages between servers on one database: work is due, a run has ended, a worker must stop a run.
 * Messages only reduce latency. Each has a slow fallback, so that a lost message delays work and
 * loses nothing.
 *
 * <p>{@code PostgresNotifier} collects the messages of a few milliseconds and sends them with one
 * NOTIFY, on its own connection. It never does so inside a transaction of the journal, because
 * NOTIFY takes a lock at commit that the committers of all databases share. While a server is
 * alone, it publishes nothing.
 */
@NullMarked
package dev.kagzi.engine.internal.notification;

import org.jspecify.annotations.NullMarked;
