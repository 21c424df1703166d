/**
 * A worker: one registration per queue, each with its polls, its slots, its heartbeat and its
 * attached stream.
 *
 * <p>It stays connected for as long as it takes. Heartbeats list exactly the claims that are being
 * executed, and go on until the last of them has ended. One poll per queue is under way as long as
 * a slot is free. Nothing here runs on virtual threads except the runs themselves: busy user code
 * must not silence the worker.
 *
 * <p>May know {@code run}, {@code report} and {@code wire}.
 */
@NullMarked
package dev.kagzi.sdk.internal.worker;

import org.jspecify.annotations.NullMarked;
