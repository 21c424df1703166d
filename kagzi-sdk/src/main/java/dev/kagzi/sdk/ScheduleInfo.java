package dev.kagzi.sdk;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Optional;

/**
 * A schedule, as of the moment of the call.
 *
 * @param enabled false while it is paused
 * @param totalRuns all that it ever started, also those that are no longer kept
 * @param missedRuns slots that made no run: more than are caught up with, or held back by the
 *     overlap policy
 * @param nextFireAt its next slot; empty when the expression names no further time
 * @param waitingSlot the slot that waits for the end of the run before it
 * @param problem why it cannot fire
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
