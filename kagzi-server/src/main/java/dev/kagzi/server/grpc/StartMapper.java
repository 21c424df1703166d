package dev.kagzi.server.grpc;

import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.IfExists;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.protocol.v1.IdConflictPolicy;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import org.jspecify.annotations.Nullable;

/** Converts requests to start a run; refuses fields that this server does not implement. */
final class StartMapper {
  private StartMapper() {}

  /**
   * @param namespace used if the request names none
   * @param defaults for fields that a retry policy leaves out
   */
  static StartRequest read(StartWorkflowRequest request, String namespace, RetryPolicy defaults) {
    refuseUnsupported(request);
    String own = request.getNamespace();
    return new StartRequest(
        Arguments.namespace(own.isEmpty() ? namespace : own),
        request.getExternalId(),
        request.getTaskQueue(),
        request.getWorkflowType(),
        request.getVersion(),
        Arguments.payload(request.getInput()),
        request.hasRetryPolicy() ? Arguments.retryPolicy(request.getRetryPolicy(), defaults) : null,
        Arguments.runIdOrNull("run_id", request.getRunId()),
        options(request));
  }

  private static StartOptions options(StartWorkflowRequest request) {
    return new StartOptions(
        timeMs("execution_timeout_ms", request.getExecutionTimeoutMs()),
        request.hasDeadline() ? Arguments.instant("deadline", request.getDeadline()) : null,
        timeMs("step_timeout_ms", request.getStepTimeoutMs()),
        timeMs("heartbeat_timeout_ms", request.getHeartbeatTimeoutMs()),
        request.getOnFailureWorkflow(),
        request.getOnFailureTaskQueue(),
        ifExists(request.getIdConflictPolicy()),
        parent(request),
        request.getHeadersMap());
  }

  private static StartOptions.@Nullable Parent parent(StartWorkflowRequest request) {
    boolean hasParent = !request.getParentRunId().isEmpty();
    if (hasParent == request.getParentStepId().isEmpty()) {
      throw Refusal.invalid(
          "parent_run_id",
          request.getParentRunId() + " with parent_step_id " + request.getParentStepId(),
          "both, or none");
    }
    return hasParent
        ? new StartOptions.Parent(
            Arguments.runId(request.getParentRunId()), request.getParentStepId())
        : null;
  }

  /** Reads a child's start; namespace, id and parent follow from the run and its step. */
  static StartRequest readChild(StartWorkflowRequest request, RetryPolicy defaults) {
    if (!request.getNamespace().isEmpty()
        || !request.getExternalId().isEmpty()
        || !request.getRunId().isEmpty()
        || !request.getParentRunId().isEmpty()
        || !request.getParentStepId().isEmpty()
        || request.getIdConflictPolicyValue() != 0) {
      throw Refusal.invalid(
          "start",
          "a child with a namespace, an id or a parent of its own",
          "none of them: they follow from the run and the step");
    }
    return read(request, Arguments.namespace(""), defaults);
  }

  /** Reads the start of a call that sends a signal or starts a run. */
  static StartRequest readWithSignal(StartWorkflowRequest request, RetryPolicy defaults) {
    if (request.getIdConflictPolicyValue() != 0) {
      throw Refusal.invalid(
          "start.id_conflict_policy",
          request.getIdConflictPolicy(),
          "none: the signal goes to the open run, if there is one");
    }
    return read(request, "", defaults);
  }

  static @Nullable Long timeMs(String field, long millis) {
    return millis == 0 ? null : Long.valueOf(Arguments.notNegative(field, millis));
  }

  private static IfExists ifExists(IdConflictPolicy policy) {
    return switch (policy) {
      case ID_CONFLICT_POLICY_UNSPECIFIED, ID_CONFLICT_POLICY_USE_EXISTING -> IfExists.USE_EXISTING;
      case ID_CONFLICT_POLICY_REJECT -> IfExists.REJECT;
      case ID_CONFLICT_POLICY_USE_EXISTING_ANY -> IfExists.USE_EXISTING_ANY;
      case UNRECOGNIZED -> throw Arguments.unknownEnum("id_conflict_policy");
    };
  }

  private static void refuseUnsupported(StartWorkflowRequest request) {
    refuse(request.hasStartAt(), "start_at");
    refuse(request.getPriority() != 0, "priority");
    // A field of a newer protocol: the client relies on an effect that this server does not have.
    request.getUnknownFields().asMap().keySet().stream()
        .findFirst()
        .ifPresent(number -> refuse(true, "field " + number));
  }

  private static void refuse(boolean set, String field) {
    if (set) {
      throw GrpcErrors.unimplemented("field", field);
    }
  }
}
