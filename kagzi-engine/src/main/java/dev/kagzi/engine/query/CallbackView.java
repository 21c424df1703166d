package dev.kagzi.engine.query;

import dev.kagzi.engine.value.Payload;
import java.time.Instant;

/**
 * The answer of a callback, also if no step has awaited it.
 *
 * @param payload the value, or in its metadata the failure; without its bytes if they were too many
 */
public record CallbackView(boolean failed, Instant answeredAt, Payload payload) {}
