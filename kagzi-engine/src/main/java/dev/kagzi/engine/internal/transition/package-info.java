/**
 * State transitions of runs and steps: what workers report, and what others do to a run (cancel,
 * resume, expire, release).
 *
 * <p>{@code RunWriter} receives a batch of writes from a lane of the journal and locks their runs.
 * {@code Transitions} decides each write in memory on the locked rows. {@code RunBatch} then writes
 * all changes with one to three statements per kind.
 *
 * <p>Workers with the task protocol send batches of reports. A <em>simple client</em> is a worker
 * that makes one call per step or run (BeginStep, CompleteStep, CompleteWorkflow and so on).
 *
 * <p>Reports are idempotent: a report that is sent again has no second effect. It gets the first
 * result again; if its claim has ended since, it may get "claim lost".
 */
@NullMarked
package dev.kagzi.engine.internal.transition;

import org.jspecify.annotations.NullMarked;
