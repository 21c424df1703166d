package dev.kagzi.engine.schedule;

import dev.kagzi.engine.value.RunId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A schedule as it is now.
 *
 * @param totalRuns all that it ever started, also those that are no longer kept
 * @param missedRuns slots that made no run: more than are caught up with, or held back by the
 *     overlap policy
 * @param nextFireAt null when the expression names no further time
 * @param waitingSlot the slot that waits for the end of the run before it
 * @param problem why it cannot fire; empty when it can
 */
public record ScheduleView(
    String namespace,
    RunId id,
    ScheduleSpec spec,
    boolean enabled,
    long totalRuns,
    long completedRuns,
    long failedRuns,
    long missedRuns,
    Instant createdAt,
    Instant updatedAt,
    @Nullable Instant nextFireAt,
    @Nullable Instant lastFiredAt,
    @Nullable Instant waitingSlot,
    String problem) {}
