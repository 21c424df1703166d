package dev.kagzi.server.grpc;

import com.google.protobuf.Timestamp;
import com.google.protobuf.UnsafeByteOperations;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.namespace.NamespaceView;
import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.query.StepView;
import dev.kagzi.engine.query.WorkerView;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Origin;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepStatus;
import dev.kagzi.engine.value.WorkerStatus;
import dev.kagzi.protocol.v1.AttachResponse;
import dev.kagzi.protocol.v1.ClaimRef;
import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.Namespace;
import dev.kagzi.protocol.v1.PageInfo;
import dev.kagzi.protocol.v1.PollTaskResponse;
import dev.kagzi.protocol.v1.PollTasksResponse;
import dev.kagzi.protocol.v1.StartWorkflowResponse;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.TypeVersion;
import dev.kagzi.protocol.v1.Worker;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowEnd;
import dev.kagzi.protocol.v1.WorkflowOrigin;
import dev.kagzi.protocol.v1.WorkflowStatus;
import dev.kagzi.protocol.v1.WorkflowTypeConcurrency;
import dev.kagzi.server.callback.CallbackUrls;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Maps the engine's results to protocol messages. No switch here has a default branch, so a new
 * result or state does not compile until it is mapped.
 */
final class ResponseMapper {
  private ResponseMapper() {}

  // The engine never changes these arrays again, so the bytes need no copy.
  static dev.kagzi.protocol.v1.Payload payload(Payload payload) {
    dev.kagzi.protocol.v1.Payload.Builder message =
        dev.kagzi.protocol.v1.Payload.newBuilder()
            .setData(UnsafeByteOperations.unsafeWrap(payload.data()));
    if (!payload.metadata().isEmpty()) {
      message.putAllMetadata(payload.metadata());
    }
    return message.build();
  }

  static ErrorDetail error(Failure failure) {
    return ErrorDetail.newBuilder()
        .setCode(errorCode(failure.code()))
        .setMessage(failure.message())
        .setNonRetryable(failure.nonRetryable())
        .setRetryAfterMs(failure.retryAfterMs())
        .setSubject(failure.subject())
        .setSubjectId(failure.subjectId())
        .putAllMetadata(failure.metadata())
        .build();
  }

  private static ErrorCode errorCode(dev.kagzi.engine.value.ErrorCode code) {
    return switch (code) {
      case UNSPECIFIED -> ErrorCode.ERROR_CODE_UNSPECIFIED;
      case NOT_FOUND -> ErrorCode.ERROR_CODE_NOT_FOUND;
      case INVALID_ARGUMENT -> ErrorCode.ERROR_CODE_INVALID_ARGUMENT;
      case PRECONDITION_FAILED -> ErrorCode.ERROR_CODE_PRECONDITION_FAILED;
      case CONFLICT -> ErrorCode.ERROR_CODE_CONFLICT;
      case UNAUTHORIZED -> ErrorCode.ERROR_CODE_UNAUTHORIZED;
      case UNAVAILABLE -> ErrorCode.ERROR_CODE_UNAVAILABLE;
      case INTERNAL -> ErrorCode.ERROR_CODE_INTERNAL;
      case TIMEOUT -> ErrorCode.ERROR_CODE_TIMEOUT;
    };
  }

  static WorkflowStatus status(RunStatus status) {
    return switch (status) {
      case PENDING -> WorkflowStatus.WORKFLOW_STATUS_PENDING;
      case RUNNING -> WorkflowStatus.WORKFLOW_STATUS_RUNNING;
      case SLEEPING -> WorkflowStatus.WORKFLOW_STATUS_SLEEPING;
      case COMPLETED -> WorkflowStatus.WORKFLOW_STATUS_COMPLETED;
      case FAILED -> WorkflowStatus.WORKFLOW_STATUS_FAILED;
      case CANCELLED -> WorkflowStatus.WORKFLOW_STATUS_CANCELLED;
      case SCHEDULED -> WorkflowStatus.WORKFLOW_STATUS_SCHEDULED;
      case PAUSED -> WorkflowStatus.WORKFLOW_STATUS_PAUSED;
      case TIMED_OUT -> WorkflowStatus.WORKFLOW_STATUS_TIMED_OUT;
    };
  }

  private static dev.kagzi.protocol.v1.StepKind kind(StepKind kind) {
    return switch (kind) {
      case FUNCTION -> dev.kagzi.protocol.v1.StepKind.STEP_KIND_FUNCTION;
      case SLEEP -> dev.kagzi.protocol.v1.StepKind.STEP_KIND_SLEEP;
      case CHILD_WORKFLOW -> dev.kagzi.protocol.v1.StepKind.STEP_KIND_CHILD_WORKFLOW;
      case SIGNAL -> dev.kagzi.protocol.v1.StepKind.STEP_KIND_SIGNAL;
      case CALLBACK -> dev.kagzi.protocol.v1.StepKind.STEP_KIND_CALLBACK;
    };
  }

  private static dev.kagzi.protocol.v1.StepStatus status(StepStatus status) {
    return switch (status) {
      case PENDING -> dev.kagzi.protocol.v1.StepStatus.STEP_STATUS_PENDING;
      case RUNNING -> dev.kagzi.protocol.v1.StepStatus.STEP_STATUS_RUNNING;
      case COMPLETED -> dev.kagzi.protocol.v1.StepStatus.STEP_STATUS_COMPLETED;
      case FAILED -> dev.kagzi.protocol.v1.StepStatus.STEP_STATUS_FAILED;
    };
  }

  static dev.kagzi.protocol.v1.WorkerStatus status(WorkerStatus status) {
    return switch (status) {
      case ONLINE -> dev.kagzi.protocol.v1.WorkerStatus.WORKER_STATUS_ONLINE;
      case DRAINING -> dev.kagzi.protocol.v1.WorkerStatus.WORKER_STATUS_DRAINING;
      case OFFLINE -> dev.kagzi.protocol.v1.WorkerStatus.WORKER_STATUS_OFFLINE;
    };
  }

  private static WorkflowOrigin origin(Origin origin) {
    return switch (origin) {
      case CLIENT -> WorkflowOrigin.WORKFLOW_ORIGIN_CLIENT;
      case SCHEDULE -> WorkflowOrigin.WORKFLOW_ORIGIN_SCHEDULE;
      case CHILD -> WorkflowOrigin.WORKFLOW_ORIGIN_CHILD;
      case FAILURE_HANDLER -> WorkflowOrigin.WORKFLOW_ORIGIN_FAILURE_HANDLER;
      case RETRY -> WorkflowOrigin.WORKFLOW_ORIGIN_RETRY;
    };
  }

  static Timestamp timestamp(Instant at) {
    return Timestamp.newBuilder().setSeconds(at.getEpochSecond()).setNanos(at.getNano()).build();
  }

  static StartWorkflowResponse started(StartResult result) {
    return StartWorkflowResponse.newBuilder()
        .setRunId(result.runId().toString())
        .setAlreadyExists(result.existed())
        .setWorkflowType(result.workflowType())
        .build();
  }

  static PollTasksResponse tasks(String namespace, List<Task> tasks, CallbackUrls callbacks) {
    PollTasksResponse.Builder message = PollTasksResponse.newBuilder();
    for (Task task : tasks) {
      message.addTasks(task(task, new WorkerSteps(namespace, task.claim().runId(), callbacks)));
    }
    return message.build();
  }

  /** For clients that take one task; an empty run id means no task. */
  static PollTaskResponse oneTask(List<Task> tasks) {
    if (tasks.isEmpty()) {
      return PollTaskResponse.getDefaultInstance();
    }
    Task task = tasks.get(0);
    PollTaskResponse.Builder message =
        PollTaskResponse.newBuilder()
            .setRunId(task.claim().runId().toString())
            .setEpoch(task.claim().epoch())
            .setWorkflowType(task.workflowType())
            .putAllHeaders(task.headers());
    set(task.input(), ResponseMapper::payload, message::setInput);
    return message.build();
  }

  private static dev.kagzi.protocol.v1.Task task(Task task, WorkerSteps steps) {
    dev.kagzi.protocol.v1.Task.Builder message =
        dev.kagzi.protocol.v1.Task.newBuilder()
            .setRunId(task.claim().runId().toString())
            .setEpoch(task.claim().epoch())
            .setWorkflowType(task.workflowType())
            .setVersion(task.version())
            .setAttempt(task.attempt())
            .setHistoryApart(task.historyApart())
            .setExternalId(task.externalId())
            .setCreatedAt(timestamp(task.createdAt()))
            .setClaimedAt(timestamp(task.claimedAt()))
            .setCancelRequested(task.cancel() == Task.Cancel.CLEAN_UP)
            .setStepTimeoutMs(task.stepTimeoutMs())
            .putAllHeaders(task.headers());
    set(task.deadlineInMs(), message::setDeadlineInMs);
    set(task.input(), ResponseMapper::payload, message::setInput);
    task.steps().forEach(step -> message.addSteps(steps.step(step)));
    return message.build();
  }

  static dev.kagzi.protocol.v1.RecordedStep recordedStep(RecordedStep step) {
    dev.kagzi.protocol.v1.RecordedStep.Builder message =
        dev.kagzi.protocol.v1.RecordedStep.newBuilder()
            .setStepKey(step.stepKey())
            .setAttempt(step.attempt())
            .setKind(kind(step.kind()));
    switch (step.result()) {
      case RecordedStep.Result.Output(Payload payload) -> message.setOutput(payload(payload));
      case RecordedStep.Result.FinalFailure(Failure failure) ->
          message.setFinalFailure(error(failure));
      case RecordedStep.Result.Retry(Failure failure, long delayMs) ->
          message.setRetry(
              dev.kagzi.protocol.v1.RecordedStep.Retry.newBuilder()
                  .setError(error(failure))
                  .setDelayMs(delayMs));
      case RecordedStep.Result.Sleeping(long remainingMs) -> message.setSleepsMs(remainingMs);
      case RecordedStep.Result.Open() -> message.setOpen(true);
      case RecordedStep.Result.TimedOut() -> message.setTimedOut(true);
    }
    setText(step.child(), message::setChildRunId);
    setText(step.inputHash(), message::setInputHash);
    set(step.progress(), ResponseMapper::payload, message::setProgress);
    RecordedStep.Place place = step.place();
    if (place != null) {
      message
          .setEpoch(place.epoch())
          .setRecordedAt(timestamp(Instant.EPOCH.plus(place.recordedUs(), ChronoUnit.MICROS)));
    }
    return message.build();
  }

  static dev.kagzi.protocol.v1.ReportResult reportResult(ReportResult result, WorkerSteps of) {
    dev.kagzi.protocol.v1.ReportResult.Builder message =
        dev.kagzi.protocol.v1.ReportResult.newBuilder();
    switch (result) {
      case ReportResult.Accepted(RunStatus status) ->
          message.getAcceptedBuilder().setStatus(status(status));
      case ReportResult.ChildAccepted(RunId child) ->
          message
              .getAcceptedBuilder()
              .setStatus(WorkflowStatus.WORKFLOW_STATUS_RUNNING)
              .setChildRunId(child.toString());
      case ReportResult.AwaitedSteps(List<RecordedStep> steps, boolean claimKept) -> {
        message.getAwaitedBuilder().setClaimKept(claimKept);
        steps.forEach(step -> message.getAwaitedBuilder().addSteps(of.step(step)));
      }
      case ReportResult.AlreadyRecorded(RecordedStep step) ->
          message.setAlreadyRecorded(of.step(step));
      case ReportResult.RetryScheduled(
              int nextAttempt,
              long delayMs,
              Instant at,
              boolean claimKept) ->
          message
              .getRetryScheduledBuilder()
              .setNextAttempt(nextAttempt)
              .setDelayMs(delayMs)
              .setClaimKept(claimKept);
      case ReportResult.FinalFailure() -> message.getFinalFailureBuilder();
      case ReportResult.Sleeping(long remainingMs, boolean claimKept) ->
          message.getSleepingBuilder().setRemainingMs(remainingMs).setClaimKept(claimKept);
      case ReportResult.Receiving(Long remainingMs, boolean claimKept) -> {
        message.getReceivingBuilder().setClaimKept(claimKept);
        if (remainingMs != null) {
          message.getReceivingBuilder().setRemainingMs(remainingMs);
        }
      }
      case ReportResult.Received(RecordedStep step) -> message.setReceived(recordedStep(step));
      case ReportResult.Continued(RunId successor) ->
          message
              .getAcceptedBuilder()
              .setStatus(status(RunStatus.COMPLETED))
              .setContinuedTo(successor.toString());
      case ReportResult.ClaimLost(RunStatus status) ->
          message.getClaimLostBuilder().setStatus(status(status));
      case ReportResult.Refused(var refusal) -> message.setRefused(GrpcErrors.detail(refusal));
    }
    return message.build();
  }

  static dev.kagzi.protocol.v1.ReportResult refused(Refusal refusal) {
    return dev.kagzi.protocol.v1.ReportResult.newBuilder()
        .setRefused(GrpcErrors.detail(refusal))
        .build();
  }

  /** Maps the end of a watched run: the end of the last run of its chain. */
  static WorkflowEnd end(RunId watched, RunEnd end) {
    WorkflowEnd.Builder message =
        WorkflowEnd.newBuilder().setRunId(watched.toString()).setStatus(status(end.status()));
    if (!end.runId().equals(watched)) {
      message.setLastRunId(end.runId().toString());
    }
    set(end.output(), ResponseMapper::payload, message::setOutput);
    set(end.failure(), ResponseMapper::error, message::setError);
    return message.build();
  }

  static WorkflowEnd noSuchRun(RunId run) {
    return WorkflowEnd.newBuilder().setRunId(run.toString()).setNotFound(true).build();
  }

  static AttachResponse attached() {
    return AttachResponse.newBuilder()
        .setAttached(AttachResponse.Attached.getDefaultInstance())
        .build();
  }

  static AttachResponse stop(List<Claim> claims, RunStatus status) {
    AttachResponse.Stop.Builder stop = AttachResponse.Stop.newBuilder().setStatus(status(status));
    claims.forEach(claim -> stop.addClaims(claim(claim)));
    return AttachResponse.newBuilder().setStop(stop).build();
  }

  static AttachResponse stepEnded(List<Claim> claims) {
    AttachResponse.Wake.Builder wake = AttachResponse.Wake.newBuilder();
    claims.forEach(claim -> wake.addClaims(claim(claim)));
    return AttachResponse.newBuilder().setWake(wake).build();
  }

  static AttachResponse cancelRequested(List<Claim> claims) {
    AttachResponse.CancelRequested.Builder event = AttachResponse.CancelRequested.newBuilder();
    claims.forEach(claim -> event.addClaims(claim(claim)));
    return AttachResponse.newBuilder().setCancelRequested(event).build();
  }

  static AttachResponse drain() {
    return AttachResponse.newBuilder().setDrain(AttachResponse.Drain.getDefaultInstance()).build();
  }

  static ClaimRef claim(Claim claim) {
    return ClaimRef.newBuilder().setRunId(claim.runId().toString()).setEpoch(claim.epoch()).build();
  }

  static Workflow workflow(RunView run) {
    Workflow.Builder message =
        Workflow.newBuilder()
            .setNamespace(run.namespace())
            .setRunId(run.runId().toString())
            .setExternalId(run.externalId())
            .setTaskQueue(run.taskQueue())
            .setWorkflowType(run.workflowType())
            .setStatus(status(run.status()))
            .setVersion(run.version())
            .setAttempts(run.attempts())
            .setCreatedAt(timestamp(run.createdAt()))
            .setOrigin(origin(run.origin()))
            .setCrashes(run.crashes())
            .setEpoch(run.epoch());
    set(run.input(), ResponseMapper::payload, message::setInput);
    set(run.output(), ResponseMapper::payload, message::setOutput);
    set(run.error(), ResponseMapper::error, message::setError);
    set(run.startedAt(), ResponseMapper::timestamp, message::setStartedAt);
    set(run.finishedAt(), ResponseMapper::timestamp, message::setFinishedAt);
    set(run.wakeUpAt(), ResponseMapper::timestamp, message::setWakeUpAt);
    set(run.deadlineAt(), ResponseMapper::timestamp, message::setDeadlineAt);
    set(run.cancelRequestedAt(), ResponseMapper::timestamp, message::setCancelRequestedAt);
    setText(run.workerId(), message::setWorkerId);
    setText(run.parentRunId(), message::setParentRunId);
    setText(run.parentStepId(), message::setParentStepId);
    setText(run.scheduleId(), message::setScheduleId);
    setText(run.cronExpr(), message::setCronExpr);
    set(run.blockedBy(), ResponseMapper::error, message::setBlockedBy);
    setSetup(run.setup(), message);
    return message.build();
  }

  private static void setSetup(RunView.Setup setup, Workflow.Builder message) {
    set(setup.executionTimeoutMs(), message::setTimeoutMs);
    set(setup.executionTimeoutMs(), message::setExecutionTimeoutMs);
    set(setup.stepTimeoutMs(), message::setStepTimeoutMs);
    set(setup.heartbeatTimeoutMs(), message::setHeartbeatTimeoutMs);
    if (!setup.onFailureWorkflow().isEmpty()) {
      message.setOnFailureWorkflow(setup.onFailureWorkflow());
    }
    if (!setup.onFailureTaskQueue().isEmpty()) {
      message.setOnFailureTaskQueue(setup.onFailureTaskQueue());
    }
    setText(setup.failureHandler(), message::setFailureHandlerRunId);
    setText(setup.failedRun(), message::setFailedRunId);
    setText(setup.retryOf(), message::setRetryOf);
    set(setup.fireAt(), ResponseMapper::timestamp, message::setFireAt);
    message.setDetached(setup.detached()).putAllHeaders(setup.headers());
    message.setBufferedSignals(setup.bufferedSignals());
    setText(setup.chain().continuedTo(), message::setContinuedTo);
    setText(setup.chain().continuedFrom(), message::setContinuedFrom);
    setText(setup.chain().first(), message::setFirstRunId);
    set(setup.retryPolicy(), ResponseMapper::retryPolicy, message::setRetryPolicy);
  }

  static dev.kagzi.protocol.v1.RetryPolicy retryPolicy(RetryPolicy policy) {
    return dev.kagzi.protocol.v1.RetryPolicy.newBuilder()
        .setMaximumAttempts(policy.attemptsMax())
        .setInitialIntervalMs(policy.delayFirstMs())
        .setBackoffCoefficient(policy.coefficient())
        .setMaximumIntervalMs(policy.delayMaxMs())
        .setJitter(policy.jitter())
        .addAllNonRetryableErrors(policy.nonRetryable())
        .addAllRetryableKinds(policy.retryableKinds())
        .build();
  }

  static Step step(StepView step) {
    Step.Builder message =
        Step.newBuilder()
            .setNamespace(step.namespace())
            .setStepId(step.stepId().toString())
            .setRunId(step.runId().toString())
            .setName(step.name())
            .setStepKey(step.stepId().stepKey())
            .setKind(kind(step.kind()))
            .setStatus(status(step.status()))
            .setAttemptNumber(step.attemptNumber())
            .setRunAttempt(step.runAttempt())
            .setFinal(step.isFinal())
            .setCreatedAt(timestamp(step.createdAt()));
    set(step.input(), ResponseMapper::payload, message::setInput);
    set(step.output(), ResponseMapper::payload, message::setOutput);
    set(step.error(), ResponseMapper::error, message::setError);
    set(step.startedAt(), ResponseMapper::timestamp, message::setStartedAt);
    set(step.finishedAt(), ResponseMapper::timestamp, message::setFinishedAt);
    setText(step.childRunId(), message::setChildRunId);
    setText(step.inputHash(), message::setInputHash);
    set(step.dueAt(), ResponseMapper::timestamp, message::setDueAt);
    set(step.progress(), ResponseMapper::payload, message::setProgress);
    return message.build();
  }

  static Worker worker(WorkerView worker) {
    Worker.Builder message =
        Worker.newBuilder()
            .setNamespace(worker.namespace())
            .setWorkerId(worker.workerId().toString())
            .setTaskQueue(worker.taskQueue())
            .setStatus(status(worker.status()))
            .setVersion(worker.version())
            .addAllWorkflowTypes(worker.workflowTypes())
            .setHostname(worker.hostname())
            .setPid(worker.pid())
            .setActiveWorkflowCount(worker.activeWorkflowCount())
            .setRegisteredAt(timestamp(worker.registeredAt()))
            .setLastHeartbeatAt(timestamp(worker.lastHeartbeatAt()))
            .putAllLabels(worker.labels())
            .setTotalCompleted(worker.totalCompleted())
            .setTotalFailed(worker.totalFailed());
    set(worker.queueConcurrencyLimit(), message::setQueueConcurrencyLimit);
    worker
        .workflowTypeConcurrency()
        .forEach((type, max) -> message.addWorkflowTypeConcurrency(limit(type, max)));
    set(worker.deregisteredAt(), ResponseMapper::timestamp, message::setDeregisteredAt);
    worker
        .served()
        .forEach(
            type ->
                message.addServed(
                    TypeVersion.newBuilder()
                        .setWorkflowType(type.type())
                        .setVersion(type.version())));
    return message.build();
  }

  private static WorkflowTypeConcurrency limit(String type, int max) {
    return WorkflowTypeConcurrency.newBuilder().setWorkflowType(type).setMaxConcurrent(max).build();
  }

  static Namespace namespace(NamespaceView namespace) {
    Namespace.Builder message = Namespace.newBuilder();
    set(namespace.retentionMs(), message::setRetentionMs);
    return message
        .setId(namespace.id().toString())
        .setNamespace(namespace.namespace())
        .setDisplayName(namespace.displayName())
        .setDescription(namespace.description())
        .setEnabled(namespace.enabled())
        .setCreatedAt(timestamp(namespace.createdAt()))
        .setUpdatedAt(timestamp(namespace.updatedAt()))
        .setFailureHandlerTaskQueue(namespace.failureHandlerTaskQueue())
        .build();
  }

  static PageInfo page(Page<?> page) {
    return PageInfo.newBuilder()
        .setNextPageToken(page.nextToken())
        .setPrevPageToken(page.prevToken())
        .setHasMore(page.hasMore())
        .setTotalCount(Math.max(0, page.totalCount()))
        .build();
  }

  static <T, M> List<M> items(Page<T> page, Function<T, M> mapper) {
    return page.items().stream().map(mapper).toList();
  }

  static <T> void set(@Nullable T value, Consumer<T> field) {
    if (value != null) {
      field.accept(value);
    }
  }

  static <T, M> void set(@Nullable T value, Function<T, M> mapper, Consumer<M> field) {
    if (value != null) {
      field.accept(mapper.apply(value));
    }
  }

  private static void setText(@Nullable Object value, Consumer<String> field) {
    set(value, Object::toString, field);
  }
}
