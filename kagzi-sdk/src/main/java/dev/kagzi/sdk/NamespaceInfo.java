package dev.kagzi.sdk;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * A namespace, as of the moment of the call.
 *
 * @param enabled a disabled one accepts no start and hands out no work
 * @param retention how long runs are kept after their end; empty: as long as the server says, zero:
 *     for ever
 * @param failureHandlerQueue the queue on which a handler of all failures was registered last
 *     ({@link WorkerBuilder#onAnyFailure}); empty: none is remembered
 */
public record NamespaceInfo(
    String name,
    String displayName,
    String description,
    boolean enabled,
    Optional<Duration> retention,
    Optional<String> failureHandlerQueue,
    Instant createdAt,
    Instant updatedAt) {}
