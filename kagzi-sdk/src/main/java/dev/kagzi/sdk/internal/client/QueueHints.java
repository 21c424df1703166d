package dev.kagzi.sdk.internal.client;

import dev.kagzi.sdk.internal.log.EventLog;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Records on which queues this client's own workers serve each workflow type. If there is exactly
 * one, a start without a queue uses it.
 *
 * <p>Logs a warning when a start goes to a queue or type that this client's workers do not serve,
 * because that run waits forever if no other process serves it. This is the most common mistake in
 * a first program, but it may be intended, so each type and queue is logged once. Thread-safe.
 */
public final class QueueHints {
  private static final EventLog log = EventLog.of(QueueHints.class);

  private final Map<String, Set<String>> servedQueues = new ConcurrentHashMap<>();
  private final Set<String> warned = ConcurrentHashMap.newKeySet();

  public void addServed(String type, String queue) {
    servedQueues.computeIfAbsent(type, unused -> ConcurrentHashMap.newKeySet()).add(queue);
  }

  /**
   * Returns the queue on which this client's workers serve the type; empty if there is none, or
   * more than one.
   */
  public Optional<String> onlyQueueOf(String type) {
    Set<String> queues = servedQueues.getOrDefault(type, Set.of());
    return queues.size() == 1 ? queues.stream().findFirst() : Optional.empty();
  }

  public boolean warnIfNotServed(String type, String queue) {
    Set<String> queues = servedQueues.getOrDefault(type, Set.of());
    // A client without workers cannot know which queues other processes serve.
    if (servedQueues.isEmpty() || queues.contains(queue) || !warned.add(type + "\n" + queue)) {
      return false;
    }
    if (queues.isEmpty()) {
      log.warn(
              "no worker of this client serves the type of a started run; if that is not intended,"
                  + " register it with workflow(type, code)")
          .with("type", type)
          .with("queue", queue)
          .with("served", servedQueues.keySet())
          .write();
      return true;
    }
    log.warn(
            "run started on a queue on which this client's workers do not serve its type; if that is"
                + " not intended, set the queue at the start or in the WorkflowType")
        .with("type", type)
        .with("queue", queue)
        .with("served", queues)
        .write();
    return true;
  }
}
