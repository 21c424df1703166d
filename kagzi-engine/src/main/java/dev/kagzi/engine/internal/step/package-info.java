/**
 * Steps: the memoized results inside of runs.
 *
 * <p>Owns {@code step_runs}. A row is one attempt of a step; a completed attempt never changes. A
 * short successful step costs a single insert.
 */
@NullMarked
package dev.kagzi.engine.internal.step;

import org.jspecify.annotations.NullMarked;
