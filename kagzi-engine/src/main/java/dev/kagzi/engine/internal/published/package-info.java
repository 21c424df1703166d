/**
 * The values that the code of runs has published, and the statements about them.
 *
 * <p>Guarantee: a value never replaces a later one of its name. {@link
 * dev.kagzi.engine.internal.published.PublishedValues} enforces this under the lock of the run.
 *
 * <p>May depend on {@code db} and {@code value}. Must not know what a step is, or how a claim is
 * checked.
 */
@NullMarked
package dev.kagzi.engine.internal.published;

import org.jspecify.annotations.NullMarked;
