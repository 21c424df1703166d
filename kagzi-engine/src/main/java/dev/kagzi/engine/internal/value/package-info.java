/** Tools for values: JSON, times as text, UUIDs, and the end of sleeps in SQL. */
@NullMarked
package dev.kagzi.engine.internal.value;

import org.jspecify.annotations.NullMarked;
