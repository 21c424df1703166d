/**
 * Runs: executions of workflows, with their state, payloads and completion.
 *
 * <p>Owns {@code workflow_runs}, {@code workflow_payloads}, {@code workflow_types}, {@code
 * run_changes} and {@code run_counts}.
 *
 * <p>A change of an existing run is a {@link dev.kagzi.engine.internal.run.ChangeRun} in the
 * journal, except claims, renewals of leases and purges. A lane of the journal locks the row first
 * and decides on the values that the lock returned ({@link dev.kagzi.engine.internal.run.RunRow}),
 * not on an unlocked snapshot. All kinds of writes are in this package, also those about steps and
 * messages, because a sealed class needs them in one package; {@code transition} decides them.
 */
@NullMarked
package dev.kagzi.engine.internal.run;

import org.jspecify.annotations.NullMarked;
