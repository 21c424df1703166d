package dev.kagzi.engine.query;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What there is to do in a namespace, or in one of its queues.
 *
 * @param pendingByQueue runs of each queue that wait for a worker, the fullest first; only so many
 *     queues
 */
public record QueueDepth(
    long pending, long running, long sleeping, Map<String, Long> pendingByQueue) {

  public QueueDepth {
    pendingByQueue = Collections.unmodifiableMap(new LinkedHashMap<>(pendingByQueue));
  }
}
