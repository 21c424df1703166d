package dev.kagzi.engine.namespace;

import java.time.Instant;
import java.util.UUID;

/**
 * A namespace as it stood when it was looked at.
 *
 * @param enabled a disabled one accepts no start and hands out no work
 * @param failureHandlerTaskQueue where a handler of all failures was registered last; empty:
 *     nowhere
 */
public record NamespaceView(
    UUID id,
    String namespace,
    String displayName,
    String description,
    boolean enabled,
    Instant createdAt,
    Instant updatedAt,
    String failureHandlerTaskQueue) {}
