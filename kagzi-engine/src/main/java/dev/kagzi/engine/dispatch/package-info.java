/**
 * Dispatch: how runs that are due reach workers that wait.
 *
 * <p>Each queue with waiting polls has a {@link dev.kagzi.engine.dispatch.TaskQueue} in this
 * server. A poll first stands in its gate, then the gate looks, so that no wake-up falls between. A
 * run that starts while a poll waits and nothing older is due is handed over from memory, without a
 * query.
 */
@NullMarked
package dev.kagzi.engine.dispatch;

import org.jspecify.annotations.NullMarked;
