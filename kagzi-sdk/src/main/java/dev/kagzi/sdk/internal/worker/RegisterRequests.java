package dev.kagzi.sdk.internal.worker;

import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.protocol.v1.TypeVersion;
import dev.kagzi.protocol.v1.WorkflowTypeConcurrency;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.sdk.internal.run.RegisteredWorkflow;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.UUID;

/** Builds a worker's registration request. */
final class RegisterRequests {
  private RegisterRequests() {}

  static RegisterRequest of(String namespace, WorkerSettings settings) {
    RegisterRequest.Builder request =
        RegisterRequest.newBuilder()
            .setNamespace(namespace)
            .setTaskQueue(settings.queue())
            .setHostname(settings.hostname())
            .setPid((int) ProcessHandle.current().pid())
            .setVersion(settings.version())
            .putAllLabels(settings.labels())
            .setQueueConcurrencyLimit(settings.maxConcurrent())
            // Containers may share host names and process ids; the instance id is unique.
            .setInstanceId(UUID.randomUUID().toString());
    Set<String> names = new LinkedHashSet<>();
    for (RegisteredWorkflow<?, ?> code : settings.codes()) {
      WorkflowType<?, ?> type = code.type();
      names.add(type.name());
      request.addServed(
          TypeVersion.newBuilder().setWorkflowType(type.name()).setVersion(type.version()));
    }
    settings
        .typeLimits()
        .forEach(
            (type, limit) ->
                request.addWorkflowTypeConcurrency(
                    WorkflowTypeConcurrency.newBuilder()
                        .setWorkflowType(type)
                        .setMaxConcurrent(limit)));
    return request.addAllWorkflowTypes(names).build();
  }
}
