/**
 * Lists in pieces, walked by the key of their rows in both directions. Knows what a page is and how
 * one leads to the next; whoever owns the rows brings them in order.
 *
 * <p>Stands below every room that lists something. Knows no table.
 */
@NullMarked
package dev.kagzi.engine.page;

import org.jspecify.annotations.NullMarked;
