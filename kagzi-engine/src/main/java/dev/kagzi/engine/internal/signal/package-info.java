/**
 * Signals to runs: rows of {@code run_signals}, which are kept until their run is purged. A signal
 * is buffered until a step receives it; the step then has its content.
 *
 * <p>Who receives which signal is decided by {@code transition}, under the lock of the run.
 */
@NullMarked
package dev.kagzi.engine.internal.signal;

import org.jspecify.annotations.NullMarked;
