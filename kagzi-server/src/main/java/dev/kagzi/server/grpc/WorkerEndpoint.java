package dev.kagzi.server.grpc;

import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.dispatch.Tasks;
import dev.kagzi.engine.query.Queries;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.BegunStep;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.Reports;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.worker.HeartbeatResult;
import dev.kagzi.engine.worker.Workers;
import dev.kagzi.protocol.v1.AttachRequest;
import dev.kagzi.protocol.v1.AttachResponse;
import dev.kagzi.protocol.v1.BeginStepRequest;
import dev.kagzi.protocol.v1.BeginStepResponse;
import dev.kagzi.protocol.v1.CompleteStepRequest;
import dev.kagzi.protocol.v1.CompleteStepResponse;
import dev.kagzi.protocol.v1.CompleteWorkflowRequest;
import dev.kagzi.protocol.v1.CompleteWorkflowResponse;
import dev.kagzi.protocol.v1.DeregisterRequest;
import dev.kagzi.protocol.v1.DeregisterResponse;
import dev.kagzi.protocol.v1.FailStepRequest;
import dev.kagzi.protocol.v1.FailStepResponse;
import dev.kagzi.protocol.v1.FailWorkflowRequest;
import dev.kagzi.protocol.v1.FailWorkflowResponse;
import dev.kagzi.protocol.v1.GetHistoryRequest;
import dev.kagzi.protocol.v1.GetHistoryResponse;
import dev.kagzi.protocol.v1.HeartbeatRequest;
import dev.kagzi.protocol.v1.HeartbeatResponse;
import dev.kagzi.protocol.v1.PollTaskRequest;
import dev.kagzi.protocol.v1.PollTaskResponse;
import dev.kagzi.protocol.v1.PollTasksRequest;
import dev.kagzi.protocol.v1.PollTasksResponse;
import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.protocol.v1.RegisterResponse;
import dev.kagzi.protocol.v1.ReportRequest;
import dev.kagzi.protocol.v1.ReportResponse;
import dev.kagzi.protocol.v1.SleepRequest;
import dev.kagzi.protocol.v1.SleepResponse;
import dev.kagzi.protocol.v1.TypeVersion;
import dev.kagzi.protocol.v1.WorkerServiceGrpc.WorkerServiceImplBase;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

final class WorkerEndpoint extends WorkerServiceImplBase {
  private final GrpcContext context;
  private final BlockingCalls blocking;
  private final Queries queries;
  private final Workers workers;
  private final Tasks tasks;
  private final Reports reports;
  private final RetryPolicy retryDefaults;

  WorkerEndpoint(GrpcContext context) {
    this.context = context;
    this.blocking = context.blocking();
    this.queries = context.engine().queries();
    this.workers = context.engine().workers();
    this.tasks = context.engine().tasks();
    this.reports = context.engine().reports();
    this.retryDefaults = context.engine().defaultRetryPolicy();
  }

  @Override
  public void register(RegisterRequest request, StreamObserver<RegisterResponse> caller) {
    ConnectionWorkers connection = CallerContext.workers();
    UnaryResponses.answer(
        caller,
        () ->
            workers.register(
                WorkerArguments.registration(request), Arguments.requestId(request.getRequestId())),
        id -> {
          connection.add(id);
          return RegisterResponse.newBuilder()
              .setWorkerId(id.toString())
              .setHeartbeatIntervalSecs(workers.heartbeatIntervalSecs())
              .build();
        });
  }

  @Override
  public void heartbeat(HeartbeatRequest request, StreamObserver<HeartbeatResponse> caller) {
    ConnectionWorkers connection = CallerContext.workers();
    UnaryResponses.answer(
        caller,
        () -> workers.heartbeat(WorkerArguments.heartbeat(request)),
        result -> {
          connection.add(Arguments.workerId(request.getWorkerId()));
          return heartbeatAnswer(result);
        });
  }

  private static HeartbeatResponse heartbeatAnswer(HeartbeatResult result) {
    HeartbeatResponse.Builder message =
        HeartbeatResponse.newBuilder().setAccepted(true).setShouldDrain(result.shouldDrain());
    result.lost().forEach(claim -> message.addLost(ResponseMapper.claim(claim)));
    result.cancelled().forEach(claim -> message.addCancelled(ResponseMapper.claim(claim)));
    result
        .cancelRequested()
        .forEach(claim -> message.addCancelRequested(ResponseMapper.claim(claim)));
    return message.build();
  }

  @Override
  public void deregister(DeregisterRequest request, StreamObserver<DeregisterResponse> caller) {
    UnaryResponses.answer(
        caller,
        () ->
            workers.deregister(
                Arguments.namespaceOrAny(request.hasNamespace(), request.getNamespace()),
                Arguments.workerId(request.getWorkerId()),
                request.getDrain()),
        drained -> DeregisterResponse.newBuilder().setDrained(drained).build());
  }

  @Override
  public void pollTask(PollTaskRequest request, StreamObserver<PollTaskResponse> caller) {
    ConnectionWorkers connection = CallerContext.workers();
    LongPoll.open(
        context,
        caller,
        () ->
            tasks.pollOne(
                queue(request.getNamespace(), request.getTaskQueue()),
                Arguments.workerId(request.getWorkerId()),
                request.getWorkflowTypesList(),
                LongPoll.waitMs(0)),
        tasks -> {
          connection.add(Arguments.workerId(request.getWorkerId()));
          context.tracing().dispatched(tasks);
          return ResponseMapper.oneTask(tasks);
        },
        tasks -> giveBack(request.getNamespace(), tasks));
  }

  @Override
  public void pollTasks(PollTasksRequest request, StreamObserver<PollTasksResponse> caller) {
    ConnectionWorkers connection = CallerContext.workers();
    LongPoll.open(
        context,
        caller,
        () -> tasks.poll(pollRequest(request)),
        tasks -> {
          connection.add(Arguments.workerId(request.getWorkerId()));
          context.tracing().dispatched(tasks);
          return ResponseMapper.tasks(
              Arguments.namespace(request.getNamespace()), tasks, context.callbacks());
        },
        tasks -> giveBack(request.getNamespace(), tasks));
  }

  // Nobody awaits the result: if it fails, the short first lease of the tasks expires.
  private void giveBack(String namespace, List<Task> tasks) {
    List<Report> released = new ArrayList<>(tasks.size());
    tasks.forEach(task -> released.add(new Report.Released(task.claim(), 0, null)));
    reports.accept(Arguments.namespace(namespace), released);
  }

  private static PollRequest pollRequest(PollTasksRequest request) {
    List<PollRequest.Wanted> types = new ArrayList<>(request.getTypesCount());
    for (TypeVersion type : request.getTypesList()) {
      types.add(
          new PollRequest.Wanted(
              type.getWorkflowType(),
              type.getVersion(),
              (int) Arguments.notNegative("types.max_tasks", type.getMaxTasks()),
              type.getCleanUpMs()));
    }
    return new PollRequest(
        queue(request.getNamespace(), request.getTaskQueue()),
        Arguments.workerId(request.getWorkerId()),
        types,
        Arguments.positive("max_tasks", request.getMaxTasks()),
        LongPoll.waitMs(Arguments.notNegative("wait_ms", request.getWaitMs())));
  }

  private static QueueName queue(String namespace, String taskQueue) {
    return new QueueName(Arguments.namespace(namespace), taskQueue);
  }

  @Override
  public void report(ReportRequest request, StreamObserver<ReportResponse> caller) {
    UnaryResponses.answer(
        caller,
        UnaryResponses.writer(request.getItemsCount(), context.senders()),
        () -> ReportCall.begin(context, retryDefaults, request),
        Supplier::get);
  }

  @Override
  public void attach(AttachRequest request, StreamObserver<AttachResponse> caller) {
    try {
      AttachStream.open(
          context,
          Arguments.namespace(request.getNamespace()),
          Arguments.workerId(request.getWorkerId()),
          caller);
    } catch (RuntimeException e) {
      caller.onError(GrpcErrors.of(e));
    }
  }

  @Override
  public void getHistory(GetHistoryRequest request, StreamObserver<GetHistoryResponse> caller) {
    try {
      HistoryStream.open(
          context,
          Arguments.namespace(request.getNamespace()),
          Arguments.claim(request.getRunId(), request.getEpoch()),
          caller);
    } catch (RuntimeException e) {
      caller.onError(GrpcErrors.of(e));
    }
  }

  @Override
  public void beginStep(BeginStepRequest request, StreamObserver<BeginStepResponse> caller) {
    UnaryResponses.answer(
        caller,
        () ->
            reports.begin(
                Arguments.namespace(request.getNamespace()),
                Arguments.runId(request.getRunId()),
                request.getStepName(),
                Arguments.stepKind(request.getKind()),
                request.hasInput() ? Arguments.payload(request.getInput()) : null,
                request.hasRetryPolicy()
                    ? Arguments.retryPolicy(request.getRetryPolicy(), retryDefaults)
                    : null,
                Arguments.notNegative(
                    "start_to_close_timeout_ms", request.getStartToCloseTimeoutMs()),
                CallerContext.caller(request.hasEpoch() ? request.getEpoch() : null)),
        WorkerEndpoint::begun);
  }

  private static BeginStepResponse begun(BegunStep step) {
    BeginStepResponse.Builder message =
        BeginStepResponse.newBuilder()
            .setStepId(step.ref().toString())
            .setShouldExecute(step.execute());
    ResponseMapper.set(step.cachedOutput(), ResponseMapper::payload, message::setCachedOutput);
    return message.build();
  }

  @Override
  public void completeStep(
      CompleteStepRequest request, StreamObserver<CompleteStepResponse> caller) {
    String namespace = Arguments.namespace(request.getNamespace());
    UnaryResponses.answer(
        caller,
        () ->
            reports
                .completeStep(
                    namespace,
                    Arguments.stepRef(request.getRunId(), request.getStepId()),
                    Arguments.payload(request.getOutput()),
                    CallerContext.caller(request.hasEpoch() ? request.getEpoch() : null))
                .thenCompose(ref -> blocking.call(() -> queries.step(namespace, ref))),
        step -> CompleteStepResponse.newBuilder().setStep(ResponseMapper.step(step)).build());
  }

  @Override
  public void failStep(FailStepRequest request, StreamObserver<FailStepResponse> caller) {
    UnaryResponses.answer(
        caller,
        () ->
            reports.failStep(
                Arguments.namespace(request.getNamespace()),
                Arguments.stepRef(request.getRunId(), request.getStepId()),
                Arguments.failure(request.getError()),
                CallerContext.caller(request.hasEpoch() ? request.getEpoch() : null)),
        WorkerEndpoint::failed);
  }

  private static FailStepResponse failed(Reports.FailedStep step) {
    FailStepResponse.Builder message =
        FailStepResponse.newBuilder().setScheduledRetry(step.retryScheduled());
    ResponseMapper.set(step.retryAt(), ResponseMapper::timestamp, message::setRetryAt);
    return message.build();
  }

  @Override
  public void completeWorkflow(
      CompleteWorkflowRequest request, StreamObserver<CompleteWorkflowResponse> caller) {
    UnaryResponses.answer(
        caller,
        () ->
            reports.completeRun(
                Arguments.namespace(request.getNamespace()),
                Arguments.runId(request.getRunId()),
                request.hasOutput() ? Arguments.payload(request.getOutput()) : null,
                CallerContext.caller(request.hasEpoch() ? request.getEpoch() : null)),
        status ->
            CompleteWorkflowResponse.newBuilder().setStatus(ResponseMapper.status(status)).build());
  }

  @Override
  public void failWorkflow(
      FailWorkflowRequest request, StreamObserver<FailWorkflowResponse> caller) {
    UnaryResponses.answer(
        caller,
        () ->
            reports.failRun(
                Arguments.namespace(request.getNamespace()),
                Arguments.runId(request.getRunId()),
                Arguments.failure(request.getError()),
                CallerContext.caller(request.hasEpoch() ? request.getEpoch() : null)),
        status ->
            FailWorkflowResponse.newBuilder().setStatus(ResponseMapper.status(status)).build());
  }

  @Override
  public void sleep(SleepRequest request, StreamObserver<SleepResponse> caller) {
    UnaryResponses.answer(
        caller,
        () ->
            reports.sleep(
                Arguments.namespace(request.getNamespace()),
                Arguments.stepRef(request.getRunId(), request.getStepId()),
                WorkerArguments.sleepLength(request),
                CallerContext.caller(request.hasEpoch() ? request.getEpoch() : null)),
        done -> SleepResponse.getDefaultInstance());
  }
}
