/**
 * Paged lists, read by the key of their rows in both directions. This package knows pages and
 * tokens; the package that owns the rows reads them in order.
 *
 * <p>Every package that lists rows may use it. Knows no table.
 */
@NullMarked
package dev.kagzi.engine.page;

import org.jspecify.annotations.NullMarked;
