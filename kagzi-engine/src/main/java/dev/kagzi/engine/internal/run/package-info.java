/**
 * Runs: executions of workflows, with their state, payloads and completion.
 *
 * <p>Owns {@code workflow_runs}, {@code workflow_payloads}, {@code workflow_types}, {@code
 * start_requests}, {@code signal_requests}, {@code run_changes}, {@code run_counts} and {@code
 * run_rates}.
 *
 * <p>A change of an existing run is a {@link dev.kagzi.engine.internal.run.ChangeRun} in the
 * journal, except claims, renewals of leases, acknowledgements of tasks by a history call, purges,
 * and {@link dev.kagzi.engine.internal.run.RevokeClaims}. A lane of the journal locks the row first
 * and decides on the values that the lock returned ({@link dev.kagzi.engine.internal.run.RunRow}),
 * not on an unlocked snapshot. All kinds of writes are in this package, including those about steps
 * and messages, because a sealed class and its subclasses must be in one package. {@code
 * transition} decides them.
 */
@NullMarked
package dev.kagzi.engine.internal.run;

import org.jspecify.annotations.NullMarked;
