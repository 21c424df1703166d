/** Retry and crash policies. Pure functions without I/O. */
@NullMarked
package dev.kagzi.engine.retry;

import org.jspecify.annotations.NullMarked;
