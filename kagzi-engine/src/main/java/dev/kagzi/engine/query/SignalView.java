package dev.kagzi.engine.query;

import dev.kagzi.engine.value.Payload;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A signal to a run as it was when it was read.
 *
 * @param number 1 for the first signal of the run
 * @param payload without its bytes if a list omitted them
 * @param receivedAt null, as {@code stepKey}, if no step has received it
 */
public record SignalView(
    int number,
    String signalId,
    String name,
    Payload payload,
    Instant sentAt,
    @Nullable Instant receivedAt,
    @Nullable String stepKey) {}
