/**
 * Runs code against a recorded history, without a server and without executing a step. {@link
 * dev.kagzi.sdk.internal.replay.Replay} takes the place of the worker, and its {@code ReplayLane}
 * the place of the server.
 *
 * <p>{@code internal.run} executes the code as in a worker. A {@code ReplayObserver} compares the
 * steps that the code asks for with the history. That is stricter than a live worker, which finds
 * steps by their keys and so accepts inserted, removed and moved steps.
 *
 * <p>May depend on {@code run}, {@code report}, {@code history}, {@code wire}, {@code trace},
 * {@code metrics} and {@code log}. Must not know clients or workers.
 */
@NullMarked
package dev.kagzi.sdk.internal.replay;

import org.jspecify.annotations.NullMarked;
