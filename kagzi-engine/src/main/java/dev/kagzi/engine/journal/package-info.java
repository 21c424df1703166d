/**
 * Group commit. Callers hand in small writes and go on; a lane gathers whatever arrived while its
 * previous commit was under way and sends it to PostgreSQL as one transaction. There is no timer:
 * under load batches form by themselves, and a lone write goes out at once.
 *
 * <p>Promise: when a write's future completes, the write is durable, or it was refused with a
 * reason. Writes with the same key keep their order. One bad write does not fail its neighbours.
 * Nothing acknowledged is only in memory.
 *
 * <p>May know {@code db} and {@code value}. Must not know what a run or a step is.
 */
@NullMarked
package dev.kagzi.engine.journal;

import org.jspecify.annotations.NullMarked;
