/**
 * A worker: one registration per queue, each with its polls, slots, heartbeats and attached stream.
 *
 * <p>It reconnects without a time limit. Heartbeats list exactly the claims that are being executed
 * and continue until the last of them has ended. One poll per queue is in flight while a slot is
 * free. Only the runs themselves use virtual threads: CPU-bound user code must not delay
 * heartbeats.
 *
 * <p>May depend on {@code run}, {@code report} and {@code wire}.
 */
@NullMarked
package dev.kagzi.sdk.internal.worker;

import org.jspecify.annotations.NullMarked;
