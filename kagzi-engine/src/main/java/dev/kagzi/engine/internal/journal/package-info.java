/**
 * Group commit. Callers append small writes and do not wait. A lane collects the writes that
 * arrived during its previous commit and sends them to PostgreSQL as one transaction. Under load
 * batches form by themselves, and a single write is sent at once. Servers that share a database use
 * fewer lanes each, so that their batches stay as large as those of one server.
 *
 * <p>Promise: when a write's future completes, the write is committed, or it was refused with a
 * reason. A write that is refused as UNAVAILABLE after its connection broke may be committed
 * nevertheless. Writes with the same key keep their order. One bad write does not fail the rest of
 * its batch.
 *
 * <p>Must not know what a run or a step is.
 */
@NullMarked
package dev.kagzi.engine.internal.journal;

import org.jspecify.annotations.NullMarked;
