package dev.kagzi.sdk;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The registration of a worker on one queue, at the time of the call.
 *
 * @param activeRuns how many runs it executes, as of its last heartbeat
 * @param maxConcurrent how many runs it executes at once; empty for no limit
 * @param lastHeartbeatAt when the server received its last heartbeat
 */
public record WorkerInfo(
    String workerId,
    String queue,
    Status status,
    String version,
    List<String> workflowTypes,
    String hostname,
    int pid,
    int activeRuns,
    Optional<Integer> maxConcurrent,
    long completedRuns,
    long failedRuns,
    Map<String, String> labels,
    Instant registeredAt,
    Instant lastHeartbeatAt) {

  /** Whether a worker gets runs. */
  public enum Status {
    /** It gets runs. */
    ONLINE,
    /** It finishes its runs and gets no new ones. */
    DRAINING,
    /** It has left or was declared dead. */
    OFFLINE,
    /** The server is newer and has a status that this SDK does not know. */
    UNKNOWN
  }

  /** Copies the collections. */
  public WorkerInfo {
    workflowTypes = List.copyOf(workflowTypes);
    labels = Map.copyOf(labels);
  }
}
