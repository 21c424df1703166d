/**
 * Runs that start by a cron expression. A schedule is a template row in {@code workflow_runs} with
 * {@code cron_expr} set. Each of its slots, the times at which it fires, becomes at most one run.
 *
 * <p>Invariant: the transaction that advances a template past a slot holds the template's lock, and
 * creates the slot's run, buffers the slot or counts it as missed. So no server fires a slot twice
 * or loses one.
 *
 * <p>Owns {@code schedule_changes} and {@code schedule_counts}, and the templates in {@code
 * workflow_runs}. May know runs, namespaces and paging. Lock order: runs first, then templates.
 */
@NullMarked
package dev.kagzi.engine.internal.schedule;

import org.jspecify.annotations.NullMarked;
