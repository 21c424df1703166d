package dev.kagzi.engine.query;

import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.value.WorkerStatus;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One registration of a worker as it was when it was read.
 *
 * @param workflowTypes each once, in the order of the registration
 * @param served its types with their versions; {@code *} is any version
 * @param queueConcurrencyLimit how many runs it executes at once; null for no limit
 * @param workflowTypeConcurrency how many runs of a type it executes at once
 */
public record WorkerView(
    WorkerId workerId,
    String namespace,
    String taskQueue,
    WorkerStatus status,
    String version,
    List<String> workflowTypes,
    String hostname,
    int pid,
    @Nullable Integer queueConcurrencyLimit,
    Map<String, Integer> workflowTypeConcurrency,
    int activeWorkflowCount,
    Instant registeredAt,
    Instant lastHeartbeatAt,
    Map<String, String> labels,
    long totalCompleted,
    long totalFailed,
    @Nullable Instant deregisteredAt,
    List<TypeVersion> served) {

  public WorkerView {
    workflowTypes = List.copyOf(workflowTypes);
    workflowTypeConcurrency = Map.copyOf(workflowTypeConcurrency);
    labels = Map.copyOf(labels);
    served = List.copyOf(served);
  }

  WorkerView withActiveWorkflowCount(int count) {
    return new WorkerView(
        workerId,
        namespace,
        taskQueue,
        status,
        version,
        workflowTypes,
        hostname,
        pid,
        queueConcurrencyLimit,
        workflowTypeConcurrency,
        count,
        registeredAt,
        lastHeartbeatAt,
        labels,
        totalCompleted,
        totalFailed,
        deregisteredAt,
        served);
  }
}
