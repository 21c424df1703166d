package dev.kagzi.engine.schedule;

import dev.kagzi.engine.value.RunId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A schedule as it was when it was read.
 *
 * @param totalRuns all runs that it started, including purged ones
 * @param missedRuns slots that became no run because of the catch-up limit, the overlap policy, or
 *     another run with their external id
 * @param nextFireAt null when the expression matches no further time
 * @param waitingSlot the buffered slot that waits for the end of the earlier run
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
