/** Counters of an engine, by component. */
@NullMarked
package dev.kagzi.engine.metrics;

import org.jspecify.annotations.NullMarked;
