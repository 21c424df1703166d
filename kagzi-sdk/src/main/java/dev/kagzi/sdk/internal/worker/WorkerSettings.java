package dev.kagzi.sdk.internal.worker;

import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.sdk.internal.run.FailureRecorder;
import dev.kagzi.sdk.internal.run.InterceptorChain;
import dev.kagzi.sdk.internal.run.Nondeterminism;
import dev.kagzi.sdk.internal.run.RegisteredWorkflow;
import dev.kagzi.sdk.internal.trace.Tracing;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** The settings of the worker of one queue; the version is for display. */
public record WorkerSettings(
    String queue,
    List<RegisteredWorkflow<?, ?>> codes,
    int maxConcurrent,
    Map<String, Integer> typeLimits,
    Map<String, String> labels,
    String version,
    String hostname,
    Duration drainTimeout,
    FailureRecorder failures,
    InterceptorChain interceptors,
    Nondeterminism nondeterminism,
    Tracing tracing) {
  public WorkerSettings {
    codes = List.copyOf(codes);
    typeLimits = Map.copyOf(typeLimits);
    labels = Map.copyOf(labels);
  }

  RegisterRequest registerRequest(String namespace) {
    RegisterRequest.Builder request =
        RegisterRequest.newBuilder()
            .setNamespace(namespace)
            .setTaskQueue(queue)
            .setHostname(hostname)
            .setPid((int) ProcessHandle.current().pid())
            .setVersion(version)
            .putAllLabels(labels)
            .setQueueConcurrencyLimit(maxConcurrent)
            // Containers may share host names and process ids; the instance id is unique.
            .setInstanceId(UUID.randomUUID().toString());
    codes.stream().map(code -> code.type().name()).distinct().forEach(request::addWorkflowTypes);
    for (RegisteredWorkflow<?, ?> code : codes) {
      request
          .addServedBuilder()
          .setWorkflowType(code.type().name())
          .setVersion(code.type().version());
    }
    typeLimits.forEach(
        (type, limit) ->
            request
                .addWorkflowTypeConcurrencyBuilder()
                .setWorkflowType(type)
                .setMaxConcurrent(limit));
    return request.build();
  }
}
