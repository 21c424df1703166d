package dev.kagzi.sdk;

import java.util.Map;

/**
 * How many runs of a namespace, or of one of its queues, have not ended. The numbers are exact.
 *
 * @param pendingRuns runs that wait for a worker: now, after a delay, or because they are blocked
 * @param pendingByQueue the pending runs of each queue that has some; if there are more than 1,000
 *     such queues, only of the longest 1,000
 */
public record QueueDepth(
    long pendingRuns, long runningRuns, long sleepingRuns, Map<String, Long> pendingByQueue) {

  public QueueDepth {
    pendingByQueue = Map.copyOf(pendingByQueue);
  }
}
