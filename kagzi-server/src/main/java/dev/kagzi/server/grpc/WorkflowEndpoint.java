package dev.kagzi.server.grpc;

import dev.kagzi.engine.query.Queries;
import dev.kagzi.engine.query.RunFilter;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.CancelResult;
import dev.kagzi.engine.run.Runs;
import dev.kagzi.engine.run.SignalRequest;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.value.CallbackAnswer;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.protocol.v1.AnswerCallbackRequest;
import dev.kagzi.protocol.v1.AnswerCallbackResponse;
import dev.kagzi.protocol.v1.AwaitWorkflowRequest;
import dev.kagzi.protocol.v1.AwaitWorkflowResponse;
import dev.kagzi.protocol.v1.CancelWorkflowRequest;
import dev.kagzi.protocol.v1.CancelWorkflowResponse;
import dev.kagzi.protocol.v1.ExplainWorkflowRequest;
import dev.kagzi.protocol.v1.ExplainWorkflowResponse;
import dev.kagzi.protocol.v1.GetPublishedRequest;
import dev.kagzi.protocol.v1.GetPublishedResponse;
import dev.kagzi.protocol.v1.GetWorkflowByExternalIdRequest;
import dev.kagzi.protocol.v1.GetWorkflowByExternalIdResponse;
import dev.kagzi.protocol.v1.GetWorkflowRequest;
import dev.kagzi.protocol.v1.GetWorkflowResponse;
import dev.kagzi.protocol.v1.ListSignalsRequest;
import dev.kagzi.protocol.v1.ListSignalsResponse;
import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.ListWorkflowsResponse;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.ResumeWorkflowRequest;
import dev.kagzi.protocol.v1.ResumeWorkflowResponse;
import dev.kagzi.protocol.v1.RetryWorkflowRequest;
import dev.kagzi.protocol.v1.RetryWorkflowResponse;
import dev.kagzi.protocol.v1.SignalOrStartWorkflowRequest;
import dev.kagzi.protocol.v1.SignalOrStartWorkflowResponse;
import dev.kagzi.protocol.v1.SignalWorkflowRequest;
import dev.kagzi.protocol.v1.SignalWorkflowResponse;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowResponse;
import dev.kagzi.protocol.v1.StartWorkflowsRequest;
import dev.kagzi.protocol.v1.StartWorkflowsResponse;
import dev.kagzi.protocol.v1.TerminateWorkflowRequest;
import dev.kagzi.protocol.v1.TerminateWorkflowResponse;
import dev.kagzi.protocol.v1.WatchWorkflowsRequest;
import dev.kagzi.protocol.v1.WatchWorkflowsResponse;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc.WorkflowServiceImplBase;
import dev.kagzi.protocol.v1.WorkflowStatus;
import io.grpc.stub.StreamObserver;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

final class WorkflowEndpoint extends WorkflowServiceImplBase {
  // Both the default and the maximum: a longer call is likely to break before it is answered.
  private static final long AWAIT_MS_MAX = 60_000;

  private final GrpcContext context;
  private final BlockingCalls blocking;
  private final Queries queries;
  private final Runs runs;
  private final RetryPolicy retryDefaults;

  WorkflowEndpoint(GrpcContext context) {
    this.context = context;
    this.blocking = context.blocking();
    this.queries = context.engine().queries();
    this.runs = context.engine().runs();
    this.retryDefaults = context.engine().defaultRetryPolicy();
  }

  @Override
  public void startWorkflow(
      StartWorkflowRequest request, StreamObserver<StartWorkflowResponse> caller) {
    UnaryResponses.answer(
        caller, () -> start(StartMapper.read(request, "", retryDefaults)), ResponseMapper::started);
  }

  private CompletableFuture<StartResult> start(StartRequest request) {
    CompletableFuture<StartResult> answer = runs.start(request);
    context.tracing().started(List.of(request), List.of(answer));
    return answer;
  }

  @Override
  public void startWorkflows(
      StartWorkflowsRequest request, StreamObserver<StartWorkflowsResponse> caller) {
    UnaryResponses.answer(
        caller,
        UnaryResponses.writer(request.getStartsCount(), context.senders()),
        () -> BulkStart.begin(context, retryDefaults, request),
        Supplier::get);
  }

  @Override
  public void getWorkflow(GetWorkflowRequest request, StreamObserver<GetWorkflowResponse> caller) {
    blocking.answer(
        caller,
        () ->
            queries.run(
                Arguments.namespace(request.getNamespace()), Arguments.runId(request.getRunId())),
        run -> GetWorkflowResponse.newBuilder().setWorkflow(ResponseMapper.workflow(run)).build());
  }

  @Override
  public void getWorkflowByExternalId(
      GetWorkflowByExternalIdRequest request,
      StreamObserver<GetWorkflowByExternalIdResponse> caller) {
    blocking.answer(
        caller,
        () ->
            queries.byExternalId(
                Arguments.namespace(request.getNamespace()), request.getExternalId()),
        run ->
            GetWorkflowByExternalIdResponse.newBuilder()
                .setWorkflow(ResponseMapper.workflow(run))
                .build());
  }

  @Override
  public void explainWorkflow(
      ExplainWorkflowRequest request, StreamObserver<ExplainWorkflowResponse> caller) {
    blocking.answer(
        caller,
        () ->
            queries.explain(
                Arguments.namespace(request.getNamespace()), Arguments.runId(request.getRunId())),
        ExplanationMapper::response);
  }

  @Override
  public void listWorkflows(
      ListWorkflowsRequest request, StreamObserver<ListWorkflowsResponse> caller) {
    blocking.answer(
        caller,
        () -> queries.runs(filter(request), Arguments.page(request.getPage())),
        page ->
            ListWorkflowsResponse.newBuilder()
                .setPage(ResponseMapper.page(page))
                .addAllWorkflows(ResponseMapper.items(page, ResponseMapper::workflow))
                .build());
  }

  private static RunFilter filter(ListWorkflowsRequest request) {
    return new RunFilter(
        Arguments.namespace(request.getNamespace()),
        statuses(request),
        request.hasWorkflowType() ? request.getWorkflowType() : null,
        request.hasTaskQueue() ? request.getTaskQueue() : null,
        request.hasCreatedAfter()
            ? Arguments.instant("created_after", request.getCreatedAfter())
            : null,
        request.hasCreatedBefore()
            ? Arguments.instant("created_before", request.getCreatedBefore())
            : null,
        request.hasVersion() ? request.getVersion() : null,
        request.hasExternalId() ? request.getExternalId() : null,
        request.hasParentRunId()
            ? Arguments.runId("parent_run_id", request.getParentRunId())
            : null,
        request.hasScheduleId()
            ? Arguments.runId("schedule_id", request.getScheduleId()).value()
            : null,
        request.getTopLevel(),
        request.getBlocked());
  }

  private static Set<RunStatus> statuses(ListWorkflowsRequest request) {
    Set<RunStatus> statuses = EnumSet.noneOf(RunStatus.class);
    if (request.getStatusFilter() != WorkflowStatus.WORKFLOW_STATUS_UNSPECIFIED) {
      statuses.add(Arguments.runStatus("status_filter", request.getStatusFilter()));
    }
    for (WorkflowStatus status : request.getStatusesList()) {
      statuses.add(Arguments.runStatus("statuses", status));
    }
    return statuses;
  }

  @Override
  public void cancelWorkflow(
      CancelWorkflowRequest request, StreamObserver<CancelWorkflowResponse> caller) {
    UnaryResponses.answer(
        caller,
        () ->
            runs.cancel(
                Arguments.namespace(request.getNamespace()), Arguments.runId(request.getRunId())),
        WorkflowEndpoint::cancelled);
  }

  private static CancelWorkflowResponse cancelled(CancelResult result) {
    CancelWorkflowResponse.Builder message =
        CancelWorkflowResponse.newBuilder()
            .setCancelled(result.cancelled())
            .setStatus(ResponseMapper.status(result.status()));
    Instant until = result.cleanUpUntil();
    if (until != null) {
      message.setCleanUpUntil(ResponseMapper.timestamp(until));
    }
    return message.build();
  }

  @Override
  public void terminateWorkflow(
      TerminateWorkflowRequest request, StreamObserver<TerminateWorkflowResponse> caller) {
    UnaryResponses.answer(
        caller,
        () ->
            runs.terminate(
                Arguments.namespace(request.getNamespace()),
                Arguments.runId(request.getRunId()),
                request.getReason()),
        result ->
            TerminateWorkflowResponse.newBuilder()
                .setTerminated(result.cancelled())
                .setStatus(ResponseMapper.status(result.status()))
                .build());
  }

  @Override
  public void signalWorkflow(
      SignalWorkflowRequest request, StreamObserver<SignalWorkflowResponse> caller) {
    SignalRequest signal = signal(request.getName(), request.getPayload(), request.getSignalId());
    UnaryResponses.answer(
        caller,
        () ->
            runs.signal(
                Arguments.namespace(request.getNamespace()),
                Arguments.runId(request.getRunId()),
                signal),
        stored -> SignalWorkflowResponse.newBuilder().setSignalId(signal.signalId()).build());
  }

  /** A call without an id gets a new one, so that a repetition is another signal. */
  private static SignalRequest signal(String name, Payload payload, String id) {
    return new SignalRequest(
        name, Arguments.payload(payload), id.isEmpty() ? RunId.next().toString() : id);
  }

  @Override
  public void signalOrStartWorkflow(
      SignalOrStartWorkflowRequest request, StreamObserver<SignalOrStartWorkflowResponse> caller) {
    SignalRequest signal = signal(request.getName(), request.getPayload(), request.getSignalId());
    UnaryResponses.answer(
        caller,
        () ->
            runs.signalOrStart(
                StartMapper.readWithSignal(request.getStart(), retryDefaults), signal),
        result ->
            SignalOrStartWorkflowResponse.newBuilder()
                .setRunId(result.runId().toString())
                .setStarted(result.started())
                .setSignalId(signal.signalId())
                .build());
  }

  @Override
  public void listSignals(ListSignalsRequest request, StreamObserver<ListSignalsResponse> caller) {
    blocking.answer(
        caller,
        () ->
            queries.signals(
                Arguments.namespace(request.getNamespace()),
                Arguments.runId(request.getRunId()),
                request.getBuffered(),
                Arguments.page(request.getPage())),
        page ->
            ListSignalsResponse.newBuilder()
                .setPage(ResponseMapper.page(page))
                .addAllSignals(ResponseMapper.items(page, SignalMapper::signal))
                .build());
  }

  @Override
  public void getPublished(
      GetPublishedRequest request, StreamObserver<GetPublishedResponse> caller) {
    PublishedCall.open(context, request, caller);
  }

  @Override
  public void answerCallback(
      AnswerCallbackRequest request, StreamObserver<AnswerCallbackResponse> caller) {
    UnaryResponses.answer(
        caller,
        () -> {
          String namespace = Arguments.namespace(request.getNamespace());
          RunId run = Arguments.runId(request.getRunId());
          CallbackAnswer answer = callbackAnswer(request);
          return requireCallback(namespace, run, request.getStepKey())
              .thenCompose(
                  made -> runs.answerCallback(namespace, run, request.getStepKey(), answer));
        },
        result -> AnswerCallbackResponse.newBuilder().setFailed(result.failed()).build());
  }

  private CompletableFuture<Boolean> requireCallback(String namespace, RunId run, String stepKey) {
    return blocking.call(
        () -> {
          queries.requireCallback(namespace, run, stepKey);
          return true;
        });
  }

  private static CallbackAnswer callbackAnswer(AnswerCallbackRequest request) {
    return switch (request.getAnswerCase()) {
      case PAYLOAD -> new CallbackAnswer.Completed(Arguments.payload(request.getPayload()));
      case FAILURE ->
          new CallbackAnswer.Failed(
              request.getFailure().getMessage(), request.getFailure().getType());
      case ANSWER_NOT_SET -> throw Refusal.invalid("answer", "none", "payload or failure");
    };
  }

  @Override
  public void resumeWorkflow(
      ResumeWorkflowRequest request, StreamObserver<ResumeWorkflowResponse> caller) {
    UnaryResponses.answer(
        caller,
        () ->
            runs.resume(
                Arguments.namespace(request.getNamespace()),
                Arguments.runId(request.getRunId()),
                request.hasAttempt() ? request.getAttempt() : null,
                request.getForce()),
        result ->
            ResumeWorkflowResponse.newBuilder()
                .setResumed(result.resumed())
                .setStatus(ResponseMapper.status(result.status()))
                .build());
  }

  @Override
  public void retryWorkflow(
      RetryWorkflowRequest request, StreamObserver<RetryWorkflowResponse> caller) {
    blocking.answer(
        caller,
        () ->
            runs.retry(
                    Arguments.namespace(request.getNamespace()),
                    Arguments.runId(request.getRunId()),
                    Arguments.runIdOrNull("new_run_id", request.getNewRunId()),
                    request.hasVersion() ? request.getVersion() : null)
                .join(),
        result ->
            RetryWorkflowResponse.newBuilder()
                .setNewRunId(result.runId().toString())
                .setAlreadyRunning(result.alreadyRunning())
                .build());
  }

  @Override
  public void awaitWorkflow(
      AwaitWorkflowRequest request, StreamObserver<AwaitWorkflowResponse> caller) {
    try {
      long waitMs = Arguments.notNegative("wait_ms", request.getWaitMs());
      new AwaitCall(
              context,
              Arguments.namespace(request.getNamespace()),
              Arguments.runId(request.getRunId()))
          .open(waitMs == 0 ? AWAIT_MS_MAX : Math.min(waitMs, AWAIT_MS_MAX), caller);
    } catch (RuntimeException e) {
      caller.onError(GrpcErrors.of(e));
    }
  }

  @Override
  public StreamObserver<WatchWorkflowsRequest> watchWorkflows(
      StreamObserver<WatchWorkflowsResponse> caller) {
    return WatchStream.open(context, caller);
  }
}
