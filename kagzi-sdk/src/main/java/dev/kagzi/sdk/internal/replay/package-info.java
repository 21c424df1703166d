/**
 * Runs code against a recorded history, without a server and without executing a step: {@link
 * dev.kagzi.sdk.internal.replay.Replay} is the worker's place, and its lane the server's.
 *
 * <p>The code is executed as a worker would, by {@code internal.run}; a witness compares what it
 * asks for with the record. That is stricter than a live worker, which finds steps by their keys
 * and so bears with inserted, removed and moved ones.
 *
 * <p>May know {@code run}, {@code report}, {@code history} and {@code wire}. Must not know clients
 * or workers.
 */
@NullMarked
package dev.kagzi.sdk.internal.replay;

import org.jspecify.annotations.NullMarked;
