package dev.kagzi.sdk.internal.client;

import dev.kagzi.sdk.internal.log.EventLog;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Knows on which queues a client's own workers serve a type: a start that names none goes there.
 *
 * <p>Notices the most common slips of a first program: the worker serves a workflow on one queue
 * and the start goes to another, or the type was never registered, so that the run waits for ever.
 * Says so once per type and queue; it may well be meant. Thread-safe.
 */
public final class QueueHints {
  private static final EventLog log = EventLog.of(QueueHints.class);

  private final Map<String, Set<String>> servedQueues = new ConcurrentHashMap<>();
  private final Set<String> said = ConcurrentHashMap.newKeySet();

  /** A worker of this client serves the type on the queue. */
  public void served(String type, String queue) {
    servedQueues.computeIfAbsent(type, unused -> ConcurrentHashMap.newKeySet()).add(queue);
  }

  /** The queue on which workers of this client serve the type, if that is one. */
  public Optional<String> onlyQueueOf(String type) {
    Set<String> queues = servedQueues.getOrDefault(type, Set.of());
    return queues.size() == 1 ? queues.stream().findFirst() : Optional.empty();
  }

  /** A run of the type is about to start on the queue; true if that was worth a word. */
  public boolean starting(String type, String queue) {
    Set<String> queues = servedQueues.getOrDefault(type, Set.of());
    // A client without workers leaves the work to others, and nothing can be said of them.
    if (servedQueues.isEmpty() || queues.contains(queue) || !said.add(type + "\n" + queue)) {
      return false;
    }
    if (queues.isEmpty()) {
      log.warn(
              "run starts whose type no worker of this client serves; if that is not meant,"
                  + " register it with workflow(type, code)")
          .with("type", type)
          .with("queue", queue)
          .with("served", servedQueues.keySet())
          .write();
      return true;
    }
    log.warn(
            "run starts on a queue on which this client's workers do not serve its type; if that is"
                + " not meant, name the queue at the start or in the WorkflowType")
        .with("type", type)
        .with("queue", queue)
        .with("served", queues)
        .write();
    return true;
  }
}
