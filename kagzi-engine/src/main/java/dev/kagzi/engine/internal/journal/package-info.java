/**
 * Group commit. Callers append small writes and do not wait. A lane collects the writes that
 * arrived during its previous commit and sends them to PostgreSQL as one transaction. There is no
 * timer: under load batches form by themselves, and a single write is sent at once.
 *
 * <p>Promise: when a write's future completes, the write is durable, or it was refused with a
 * reason. Writes with the same key keep their order. One bad write does not fail the rest of its
 * batch. An acknowledged write is never in memory only.
 *
 * <p>May know {@code db} and {@code value}. Must not know what a run or a step is.
 */
@NullMarked
package dev.kagzi.engine.internal.journal;

import org.jspecify.annotations.NullMarked;
