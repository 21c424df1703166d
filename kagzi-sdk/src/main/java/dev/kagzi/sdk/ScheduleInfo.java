package dev.kagzi.sdk;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Optional;

/**
 * The state of a schedule at the time of the call.
 *
 * @param enabled false while it is paused
 * @param totalRuns number of runs that it started, including deleted ones
 * @param missedRuns slots that started no run because of {@link ScheduleBuilder#maxCatchup}, the
 *     overlap policy, or another run that has the slot's workflow id
 * @param nextFireAt its next slot; empty if the cron expression never fires again
 * @param waitingSlot the slot that waits for the end of the previous run
 * @param problem why it cannot fire; empty if it can
 */
public record ScheduleInfo(
    String id,
    String name,
    String namespace,
    String queue,
    String type,
    String version,
    String cron,
    ZoneId zone,
    boolean enabled,
    Overlap overlap,
    int maxCatchup,
    Duration jitter,
    long totalRuns,
    long successfulRuns,
    long failedRuns,
    long missedRuns,
    Instant createdAt,
    Instant updatedAt,
    Optional<Instant> nextFireAt,
    Optional<Instant> lastFiredAt,
    Optional<Instant> waitingSlot,
    Optional<String> problem) {}
