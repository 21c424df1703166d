package dev.kagzi.server.web.overview;

import java.time.Duration;

/**
 * The limits from which something needs attention.
 *
 * @param queueAge how long the oldest due run of a queue waits
 * @param failurePercent the share of failed runs of a type in the last hour
 * @param failuresMin how many runs of a type must have failed for the share to count
 * @param databaseLatency how long the database takes to answer
 */
public record AttentionLimits(
    Duration queueAge, int failurePercent, int failuresMin, Duration databaseLatency) {}
