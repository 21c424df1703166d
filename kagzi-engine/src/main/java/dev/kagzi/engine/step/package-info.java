/**
 * Steps: the memoized results inside runs.
 *
 * <p>Owns {@code step_runs}. A row is one attempt; a completed one never changes. A short
 * successful step is a single insert.
 */
@NullMarked
package dev.kagzi.engine.step;

import org.jspecify.annotations.NullMarked;
