package dev.kagzi.engine.namespace;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A namespace as it was when it was read.
 *
 * @param enabled false: clients and schedules cannot start runs, and no task is dispatched
 * @param failureHandlerTaskQueue where a worker last registered the failure handler of the
 *     namespace; empty if none
 * @param retentionMs how long runs are kept after their end; null: the server's default, 0: forever
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
