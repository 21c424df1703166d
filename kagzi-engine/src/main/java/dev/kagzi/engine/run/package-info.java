/**
 * Runs: one execution of a workflow each, with its state, its payloads and its end.
 *
 * <p>Owns {@code workflow_runs} and {@code workflow_payloads}. Whoever wants to change a run hands
 * a write to the journal, whose lane locks the row first and judges on what the lock returned
 * ({@link dev.kagzi.engine.run.RunRow}); nothing changes a run by a snapshot.
 */
@NullMarked
package dev.kagzi.engine.run;

import org.jspecify.annotations.NullMarked;
