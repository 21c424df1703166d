/**
 * Keyset pagination: lists that are read by the key of their rows, in both directions. The package
 * that owns the rows implements {@link dev.kagzi.engine.internal.page.Pager.Source}, which reads
 * them in order.
 */
@NullMarked
package dev.kagzi.engine.internal.page;

import org.jspecify.annotations.NullMarked;
