/**
 * State transitions of runs and steps: what workers report, and what others do to a run (cancel,
 * resume, expire, release).
 *
 * <p>A lane of the journal collects the writes of a batch and locks their runs. {@code Transitions}
 * decides each write in memory on the locked rows. {@code RunBatch} then writes all changes with
 * one statement per kind.
 *
 * <p>Workers with the task protocol send batches of reports. A <em>simple client</em> is a worker
 * that makes one call per step or run (BeginStep, CompleteStep, CompleteWorkflow and so on).
 *
 * <p>Every report is idempotent: a report that was already applied gets the same result again.
 */
@NullMarked
package dev.kagzi.engine.internal.transition;

import org.jspecify.annotations.NullMarked;
