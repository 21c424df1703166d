/**
 * Workers: who executes runs, whether they are alive, and what becomes of their claims when not.
 *
 * <p>Owns {@code workers} and {@code worker_events}. A worker is one registration; it proves itself
 * by heartbeats, which also renew the leases of the claims that it lists, and by an attached stream
 * whose break is the first sign of death. Heartbeats have a journal of their own, so that leases
 * are renewed however busy the lanes are.
 */
@NullMarked
package dev.kagzi.engine.worker;

import org.jspecify.annotations.NullMarked;
