/**
 * The coordinator and its chores: periodic work, such as timeouts, schedules and retention, and the
 * repair of what a crash or a lost message left behind. Every chore may run on all servers at once,
 * and works in bounded batches.
 */
@NullMarked
package dev.kagzi.engine.internal.chore;

import org.jspecify.annotations.NullMarked;
