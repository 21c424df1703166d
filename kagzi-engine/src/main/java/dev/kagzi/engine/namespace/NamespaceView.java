package dev.kagzi.engine.namespace;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A namespace as it stood when it was looked at.
 *
 * @param enabled a disabled one accepts no start and hands out no work
 * @param failureHandlerTaskQueue where a handler of all failures was registered last; empty:
 *     nowhere
 * @param retentionMs how long runs are kept after their end; null: as long as the server says, 0:
 *     for ever
 */
public record NamespaceView(
    UUID id,
    String namespace,
    String displayName,
    String description,
    boolean enabled,
    Instant createdAt,
    Instant updatedAt,
    String failureHandlerTaskQueue,
    @Nullable Long retentionMs) {}
