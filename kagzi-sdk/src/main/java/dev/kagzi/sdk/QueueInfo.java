package dev.kagzi.sdk;

import java.time.Duration;
import java.util.Optional;

/**
 * The state of a task queue at the time of the call.
 *
 * @param pendingRuns runs that wait for a worker: now, after a delay, or because they are blocked
 * @param oldestDue how long the longest-waiting due run has waited for a worker; empty if none is
 *     due
 * @param totalSlots how many runs the online workers may execute at once. Counts only workers that
 *     have a limit and report their load; workers of this SDK do both
 * @param freeSlots how many more runs these workers could take at their last heartbeats
 */
public record QueueInfo(
    String name,
    long pendingRuns,
    long runningRuns,
    long sleepingRuns,
    Optional<Duration> oldestDue,
    int onlineWorkers,
    long totalSlots,
    long freeSlots) {}
