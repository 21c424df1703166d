/** Schedules: runs that start by a cron expression. */
@NullMarked
package dev.kagzi.engine.schedule;

import org.jspecify.annotations.NullMarked;
