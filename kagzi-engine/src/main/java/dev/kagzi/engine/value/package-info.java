/**
 * The small immutable values that every other room of the engine speaks in: ids, payloads,
 * failures, states, refusals. Nothing here touches the database or knows who uses it.
 */
@NullMarked
package dev.kagzi.engine.value;

import org.jspecify.annotations.NullMarked;
