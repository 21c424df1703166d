/**
 * The checks of a diagnosis. Each reads a limited number of rows, changes nothing, and returns what
 * it found, what was expected and what to do.
 *
 * <p>May know {@code db} and {@code value}. A check that fails, for example because the role may
 * not read a view, must not fail the others.
 */
@NullMarked
package dev.kagzi.engine.internal.diagnosis;

import org.jspecify.annotations.NullMarked;
