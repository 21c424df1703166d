package dev.kagzi.server.grpc;

import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.schedule.Overlap;
import dev.kagzi.engine.schedule.ScheduleSpec;
import dev.kagzi.engine.schedule.ScheduleUpdate;
import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.schedule.Schedules;
import dev.kagzi.protocol.v1.CreateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.OverlapPolicy;
import dev.kagzi.protocol.v1.UpdateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.WorkflowSchedule;
import org.jspecify.annotations.Nullable;

final class ScheduleArguments {
  private ScheduleArguments() {}

  static Schedules.Creation creation(CreateWorkflowScheduleRequest request, RetryPolicy defaults) {
    Overlap overlap = overlap(request.getOverlapPolicy());
    ScheduleSpec spec =
        new ScheduleSpec(
            request.getName(),
            request.getTaskQueue(),
            request.getWorkflowType(),
            request.getVersion(),
            request.getCronExpr(),
            zone(request.getTimeZone()),
            Arguments.payload(request.getInput()),
            overlap == null ? Overlap.ALLOW : overlap,
            request.hasMaxCatchup() ? request.getMaxCatchup() : ScheduleSpec.MAX_CATCHUP_DEFAULT,
            request.getJitterMs(),
            request.hasRetryPolicy()
                ? Arguments.retryPolicy(request.getRetryPolicy(), defaults)
                : null,
            StartMapper.timeMs("execution_timeout_ms", request.getExecutionTimeoutMs()),
            StartMapper.timeMs("step_timeout_ms", request.getStepTimeoutMs()),
            request.getOnFailureWorkflow(),
            request.getOnFailureTaskQueue());
    return new Schedules.Creation(
        Arguments.namespace(request.getNamespace()),
        spec,
        Arguments.runIdOrNull("schedule_id", request.getScheduleId()),
        request.hasEnabled() ? request.getEnabled() : null,
        request.getOrUpdate(),
        Arguments.requestId(request.getRequestId()));
  }

  static ScheduleUpdate update(UpdateWorkflowScheduleRequest request, RetryPolicy defaults) {
    return new ScheduleUpdate(
        request.hasName() ? request.getName() : null,
        request.hasTaskQueue() ? request.getTaskQueue() : null,
        request.hasWorkflowType() ? request.getWorkflowType() : null,
        request.hasVersion() ? request.getVersion() : null,
        request.hasCronExpr() ? request.getCronExpr() : null,
        request.hasTimeZone() ? zone(request.getTimeZone()) : null,
        request.hasInput() ? Arguments.payload(request.getInput()) : null,
        overlap(request.getOverlapPolicy()),
        request.hasMaxCatchup() ? request.getMaxCatchup() : null,
        request.hasJitterMs() ? request.getJitterMs() : null,
        request.hasRetryPolicy() ? Arguments.retryPolicy(request.getRetryPolicy(), defaults) : null,
        request.getClearRetryPolicy(),
        request.hasExecutionTimeoutMs() ? request.getExecutionTimeoutMs() : null,
        request.hasStepTimeoutMs() ? request.getStepTimeoutMs() : null,
        request.hasOnFailureWorkflow() ? request.getOnFailureWorkflow() : null,
        request.hasOnFailureTaskQueue() ? request.getOnFailureTaskQueue() : null,
        request.hasEnabled() ? request.getEnabled() : null,
        request.hasNextFireAt()
            ? Arguments.instant("next_fire_at", request.getNextFireAt())
            : null);
  }

  /** An empty name means the default zone. */
  static String zone(String name) {
    return name.isEmpty() ? ScheduleSpec.TIME_ZONE_DEFAULT : name;
  }

  private static @Nullable Overlap overlap(OverlapPolicy policy) {
    return switch (policy) {
      case OVERLAP_POLICY_UNSPECIFIED -> null;
      case OVERLAP_POLICY_ALLOW -> Overlap.ALLOW;
      case OVERLAP_POLICY_SKIP -> Overlap.SKIP;
      case OVERLAP_POLICY_BUFFER_ONE -> Overlap.BUFFER_ONE;
      case UNRECOGNIZED -> throw Arguments.unknownEnum("overlap_policy");
    };
  }

  private static OverlapPolicy policy(Overlap overlap) {
    return switch (overlap) {
      case ALLOW -> OverlapPolicy.OVERLAP_POLICY_ALLOW;
      case SKIP -> OverlapPolicy.OVERLAP_POLICY_SKIP;
      case BUFFER_ONE -> OverlapPolicy.OVERLAP_POLICY_BUFFER_ONE;
    };
  }

  static WorkflowSchedule message(ScheduleView view) {
    ScheduleSpec spec = view.spec();
    WorkflowSchedule.Builder message =
        WorkflowSchedule.newBuilder()
            .setNamespace(view.namespace())
            .setScheduleId(view.id().toString())
            .setName(spec.name())
            .setTaskQueue(spec.taskQueue())
            .setWorkflowType(spec.workflowType())
            .setVersion(spec.version())
            .setCronExpr(spec.cronExpr())
            .setTimeZone(spec.timeZone())
            .setEnabled(view.enabled())
            .setInput(ResponseMapper.payload(spec.input()))
            .setMaxCatchup(spec.maxCatchup())
            .setOverlapPolicy(policy(spec.overlap()))
            .setJitterMs(spec.jitterMs())
            .setExecutionTimeoutMs(orZero(spec.executionTimeoutMs()))
            .setStepTimeoutMs(orZero(spec.stepTimeoutMs()))
            .setOnFailureWorkflow(spec.onFailureWorkflow())
            .setOnFailureTaskQueue(spec.onFailureTaskQueue())
            .setTotalRuns(view.totalRuns())
            .setSuccessfulRuns(view.completedRuns())
            .setFailedRuns(view.failedRuns())
            .setMissedRuns(view.missedRuns())
            .setProblem(view.problem())
            .setCreatedAt(ResponseMapper.timestamp(view.createdAt()))
            .setUpdatedAt(ResponseMapper.timestamp(view.updatedAt()));
    ResponseMapper.set(spec.retryPolicy(), ResponseMapper::retryPolicy, message::setRetryPolicy);
    ResponseMapper.set(view.nextFireAt(), ResponseMapper::timestamp, message::setNextFireAt);
    ResponseMapper.set(view.lastFiredAt(), ResponseMapper::timestamp, message::setLastFiredAt);
    ResponseMapper.set(view.waitingSlot(), ResponseMapper::timestamp, message::setWaitingSlot);
    return message.build();
  }

  private static long orZero(@Nullable Long value) {
    return value == null ? 0 : value;
  }
}
