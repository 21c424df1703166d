/** Tools for values: JSON, times as text, UUIDs. */
@NullMarked
package dev.kagzi.engine.internal.value;

import org.jspecify.annotations.NullMarked;
