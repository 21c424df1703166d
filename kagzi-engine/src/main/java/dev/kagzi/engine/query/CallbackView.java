package dev.kagzi.engine.query;

import dev.kagzi.engine.value.Payload;
import java.time.Instant;

/**
 * The answer of a callback, even if no step has awaited it yet.
 *
 * @param payload the value; the metadata of a failure has its message and type. Without its bytes
 *     if they exceed the limit of the query
 */
public record CallbackView(boolean failed, Instant answeredAt, Payload payload) {}
