/**
 * Messages between servers on one database: work is due, a run has ended, a worker must stop a run.
 * Messages only reduce latency. Each has a slow fallback, so that a lost message delays work and
 * loses nothing.
 *
 * <p>Each server sends one coalesced NOTIFY every few milliseconds, on its own connection and never
 * inside a transaction of the journal. NOTIFY takes a lock at commit that the committers of all
 * databases share. While a server is alone it sends nothing.
 */
@NullMarked
package dev.kagzi.engine.internal.notification;

import org.jspecify.annotations.NullMarked;
