package dev.kagzi.engine.query;

/**
 * How many runs of a queue started and ended in the last hour. The numbers are some seconds late.
 *
 * @param failed runs that failed or timed out
 */
public record QueueRate(String queue, long started, long completed, long failed) {}
