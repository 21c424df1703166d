package dev.kagzi.engine.query;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Number of open runs in a namespace, or in one of its queues.
 *
 * @param pendingByQueue pending runs of each queue, fullest first; the number of queues is limited
 */
public record QueueDepth(
    long pending, long running, long sleeping, Map<String, Long> pendingByQueue) {

  public QueueDepth {
    pendingByQueue = Collections.unmodifiableMap(new LinkedHashMap<>(pendingByQueue));
  }
}
