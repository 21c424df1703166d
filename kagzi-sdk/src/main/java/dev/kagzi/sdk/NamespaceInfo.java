package dev.kagzi.sdk;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The state of a namespace at the time of the call.
 *
 * @param enabled whether it accepts starts and dispatches work
 * @param retention how long runs are kept after they end; empty means the server's default, zero
 *     means forever
 * @param failureHandlerQueue the queue on which a handler of all failures was registered last
 *     ({@link WorkerBuilder#onAnyFailure}); empty if none is registered
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
