/**
 * Runs that start by the clock. A schedule is a template among the runs ({@code cron_expr} is set);
 * each of its slots becomes one run.
 *
 * <p>Invariant: a slot becomes a run, or is counted as missed, in the transaction that advances its
 * template past it, and the template is locked in it: however many servers look, none fires a slot
 * twice or loses one.
 *
 * <p>Owns {@code schedule_changes} and {@code schedule_counts}, and the templates among {@code
 * workflow_runs}. May know runs, namespaces and paging. Locks are taken in one direction: runs
 * first, then templates.
 */
@NullMarked
package dev.kagzi.engine.schedule;

import org.jspecify.annotations.NullMarked;
