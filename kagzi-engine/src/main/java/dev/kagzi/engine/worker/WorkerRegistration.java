package dev.kagzi.engine.worker;

import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.TypeVersion;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The registration of a worker.
 *
 * @param served the types with the versions that it executes
 * @param anyVersion it executes every version of its types
 * @param instanceId distinguishes workers with the same host and pid; a worker that registers again
 *     sends the same id and replaces its earlier registration; empty for none
 */
public record WorkerRegistration(
    QueueName queue,
    List<TypeVersion> served,
    boolean anyVersion,
    String hostname,
    int pid,
    String version,
    Map<String, String> labels,
    @Nullable Integer concurrencyLimit,
    Map<String, Integer> typeLimits,
    String instanceId) {

  public WorkerRegistration {
    served = List.copyOf(served);
    labels = Map.copyOf(labels);
    typeLimits = Map.copyOf(typeLimits);
  }
}
