/** Polls of workers, and the tasks that answer them. */
@NullMarked
package dev.kagzi.engine.dispatch;

import org.jspecify.annotations.NullMarked;
