/**
 * Immutable values that all packages of the engine use: ids, payloads, failures, statuses,
 * refusals. Nothing here accesses the database or depends on other packages of the engine, except
 * {@code internal.value}.
 */
@NullMarked
package dev.kagzi.engine.value;

import org.jspecify.annotations.NullMarked;
