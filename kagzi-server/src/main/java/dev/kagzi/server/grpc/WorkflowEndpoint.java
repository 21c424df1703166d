package dev.kagzi.server.grpc;

import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.query.RunFilter;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.run.CancelResult;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.protocol.v1.AwaitWorkflowRequest;
import dev.kagzi.protocol.v1.AwaitWorkflowResponse;
import dev.kagzi.protocol.v1.CancelWorkflowRequest;
import dev.kagzi.protocol.v1.CancelWorkflowResponse;
import dev.kagzi.protocol.v1.GetWorkflowByExternalIdRequest;
import dev.kagzi.protocol.v1.GetWorkflowByExternalIdResponse;
import dev.kagzi.protocol.v1.GetWorkflowRequest;
import dev.kagzi.protocol.v1.GetWorkflowResponse;
import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.ListWorkflowsResponse;
import dev.kagzi.protocol.v1.ResumeWorkflowRequest;
import dev.kagzi.protocol.v1.ResumeWorkflowResponse;
import dev.kagzi.protocol.v1.RetryWorkflowRequest;
import dev.kagzi.protocol.v1.RetryWorkflowResponse;
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
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Supplier;

/** Starts, reads, lists, awaits, cancels, terminates, resumes and retries runs. */
final class WorkflowEndpoint extends WorkflowServiceImplBase {
  // Both the default and the maximum: a longer call is likely to break before it is answered.
  private static final long AWAIT_MS_MAX = 60_000;

  private final GrpcContext context;
  private final AwaitCall.Context awaits;

  WorkflowEndpoint(GrpcContext context) {
    this.context = context;
    this.awaits =
        new AwaitCall.Context(
            context.calls(),
            context.engine().completions(),
            context.engine().queries(),
            context.blocking(),
            context.timer());
  }

  @Override
  public void startWorkflow(
      StartWorkflowRequest request, StreamObserver<StartWorkflowResponse> caller) {
    UnaryResponses.answer(
        caller,
        () ->
            context
                .engine()
                .runs()
                .start(StartRequests.read(request, "", context.engine().defaultRetryPolicy())),
        ResponseMapper::started);
  }

  @Override
  public void startWorkflows(
      StartWorkflowsRequest request, StreamObserver<StartWorkflowsResponse> caller) {
    UnaryResponses.answer(
        caller,
        UnaryResponses.writer(request.getStartsCount(), context.senders()),
        () ->
            BulkStart.begin(
                context.engine().runs(), context.engine().defaultRetryPolicy(), request),
        Supplier::get);
  }

  @Override
  public void getWorkflow(GetWorkflowRequest request, StreamObserver<GetWorkflowResponse> caller) {
    context
        .blocking()
        .answer(
            caller,
            () ->
                context
                    .engine()
                    .queries()
                    .run(
                        Arguments.namespace(request.getNamespace()),
                        Arguments.runId(request.getRunId())),
            run ->
                GetWorkflowResponse.newBuilder().setWorkflow(ResponseMapper.workflow(run)).build());
  }

  @Override
  public void getWorkflowByExternalId(
      GetWorkflowByExternalIdRequest request,
      StreamObserver<GetWorkflowByExternalIdResponse> caller) {
    context
        .blocking()
        .answer(
            caller,
            () ->
                context
                    .engine()
                    .queries()
                    .byExternalId(
                        Arguments.namespace(request.getNamespace()), request.getExternalId()),
            run ->
                GetWorkflowByExternalIdResponse.newBuilder()
                    .setWorkflow(ResponseMapper.workflow(run))
                    .build());
  }

  @Override
  public void listWorkflows(
      ListWorkflowsRequest request, StreamObserver<ListWorkflowsResponse> caller) {
    context
        .blocking()
        .answer(
            caller,
            () ->
                context.engine().queries().runs(filter(request), Arguments.page(request.getPage())),
            WorkflowEndpoint::workflows);
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

  private static ListWorkflowsResponse workflows(Page<RunView> page) {
    ListWorkflowsResponse.Builder message =
        ListWorkflowsResponse.newBuilder().setPage(ResponseMapper.page(page));
    page.items().forEach(run -> message.addWorkflows(ResponseMapper.workflow(run)));
    return message.build();
  }

  @Override
  public void cancelWorkflow(
      CancelWorkflowRequest request, StreamObserver<CancelWorkflowResponse> caller) {
    UnaryResponses.answer(
        caller,
        () ->
            context
                .engine()
                .runs()
                .cancel(
                    Arguments.namespace(request.getNamespace()),
                    Arguments.runId(request.getRunId())),
        WorkflowEndpoint::cancelled);
  }

  private static CancelWorkflowResponse cancelled(CancelResult result) {
    return CancelWorkflowResponse.newBuilder()
        .setCancelled(result.cancelled())
        .setStatus(ResponseMapper.status(result.status()))
        .build();
  }

  @Override
  public void terminateWorkflow(
      TerminateWorkflowRequest request, StreamObserver<TerminateWorkflowResponse> caller) {
    UnaryResponses.answer(
        caller,
        () ->
            context
                .engine()
                .runs()
                .terminate(
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
  public void resumeWorkflow(
      ResumeWorkflowRequest request, StreamObserver<ResumeWorkflowResponse> caller) {
    UnaryResponses.answer(
        caller,
        () ->
            context
                .engine()
                .runs()
                .resume(
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
    context
        .blocking()
        .answer(
            caller,
            () ->
                context
                    .engine()
                    .runs()
                    .retry(
                        Arguments.namespace(request.getNamespace()),
                        Arguments.runId(request.getRunId()),
                        request.getNewRunId().isEmpty()
                            ? null
                            : Arguments.runId(request.getNewRunId()),
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
      AwaitCall.open(
          awaits,
          Arguments.namespace(request.getNamespace()),
          Arguments.runId(request.getRunId()),
          waitMs == 0 ? AWAIT_MS_MAX : Math.min(waitMs, AWAIT_MS_MAX),
          caller);
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
