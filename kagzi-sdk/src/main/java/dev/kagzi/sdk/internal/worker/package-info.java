/**
 * A worker: one registration per queue, each with its polls, slots, heartbeats and Attach stream.
 *
 * <p>It reconnects without a time limit. Heartbeats list the claims of all runs that the worker
 * holds, and continue until its drain has ended. One poll per queue is in flight while a slot is
 * free; with type limits, a second one if needed. Heartbeats and polls use no virtual threads,
 * because user code could occupy all carrier threads.
 *
 * <p>May depend on {@code run}, {@code report}, {@code wire}, {@code trace}, {@code metrics} and
 * {@code log}.
 */
@NullMarked
package dev.kagzi.sdk.internal.worker;

import org.jspecify.annotations.NullMarked;
