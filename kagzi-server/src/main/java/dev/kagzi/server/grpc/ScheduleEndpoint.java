package dev.kagzi.server.grpc;

import dev.kagzi.engine.query.Queries;
import dev.kagzi.engine.query.RunFilter;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.schedule.ScheduleStarts;
import dev.kagzi.engine.schedule.Schedules;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.protocol.v1.BackfillScheduleRequest;
import dev.kagzi.protocol.v1.BackfillScheduleResponse;
import dev.kagzi.protocol.v1.CreateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.CreateWorkflowScheduleResponse;
import dev.kagzi.protocol.v1.DeleteWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.DeleteWorkflowScheduleResponse;
import dev.kagzi.protocol.v1.GetWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.GetWorkflowScheduleResponse;
import dev.kagzi.protocol.v1.ListScheduleRunsRequest;
import dev.kagzi.protocol.v1.ListScheduleRunsResponse;
import dev.kagzi.protocol.v1.ListWorkflowSchedulesRequest;
import dev.kagzi.protocol.v1.ListWorkflowSchedulesResponse;
import dev.kagzi.protocol.v1.PauseWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.PauseWorkflowScheduleResponse;
import dev.kagzi.protocol.v1.PreviewScheduleRequest;
import dev.kagzi.protocol.v1.PreviewScheduleResponse;
import dev.kagzi.protocol.v1.ResumeWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.ResumeWorkflowScheduleResponse;
import dev.kagzi.protocol.v1.TriggerWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.TriggerWorkflowScheduleResponse;
import dev.kagzi.protocol.v1.UpdateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.UpdateWorkflowScheduleResponse;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc.WorkflowScheduleServiceImplBase;
import io.grpc.stub.StreamObserver;

final class ScheduleEndpoint extends WorkflowScheduleServiceImplBase {
  private final BlockingCalls blocking;
  private final Schedules schedules;
  private final ScheduleStarts starts;
  private final Queries queries;
  private final RetryPolicy retryDefaults;

  ScheduleEndpoint(GrpcContext context) {
    this.blocking = context.blocking();
    this.schedules = context.engine().schedules();
    this.starts = context.engine().scheduleStarts();
    this.queries = context.engine().queries();
    this.retryDefaults = context.engine().defaultRetryPolicy();
  }

  @Override
  public void createWorkflowSchedule(
      CreateWorkflowScheduleRequest request,
      StreamObserver<CreateWorkflowScheduleResponse> caller) {
    blocking.answer(
        caller,
        () -> schedules.create(ScheduleArguments.creation(request, retryDefaults)),
        created ->
            CreateWorkflowScheduleResponse.newBuilder()
                .setSchedule(ScheduleArguments.message(created))
                .build());
  }

  @Override
  public void getWorkflowSchedule(
      GetWorkflowScheduleRequest request, StreamObserver<GetWorkflowScheduleResponse> caller) {
    String namespace = Arguments.namespace(request.getNamespace());
    blocking.answer(
        caller,
        () ->
            request.getName().isEmpty()
                ? schedules.get(namespace, id(request.getScheduleId()))
                : schedules.byName(namespace, request.getName()),
        found ->
            GetWorkflowScheduleResponse.newBuilder()
                .setSchedule(ScheduleArguments.message(found))
                .build());
  }

  @Override
  public void listWorkflowSchedules(
      ListWorkflowSchedulesRequest request, StreamObserver<ListWorkflowSchedulesResponse> caller) {
    blocking.answer(
        caller,
        () ->
            schedules.list(
                Arguments.namespace(request.getNamespace()),
                request.hasTaskQueue() ? request.getTaskQueue() : null,
                request.hasWorkflowType() ? request.getWorkflowType() : null,
                request.hasEnabled() ? request.getEnabled() : null,
                Arguments.page(request.getPage())),
        page ->
            ListWorkflowSchedulesResponse.newBuilder()
                .setPage(ResponseMapper.page(page))
                .addAllSchedules(ResponseMapper.items(page, ScheduleArguments::message))
                .build());
  }

  @Override
  public void updateWorkflowSchedule(
      UpdateWorkflowScheduleRequest request,
      StreamObserver<UpdateWorkflowScheduleResponse> caller) {
    blocking.answer(
        caller,
        () ->
            schedules.update(
                Arguments.namespace(request.getNamespace()),
                id(request.getScheduleId()),
                ScheduleArguments.update(request, retryDefaults),
                Arguments.requestId(request.getRequestId())),
        now ->
            UpdateWorkflowScheduleResponse.newBuilder()
                .setSchedule(ScheduleArguments.message(now))
                .build());
  }

  @Override
  public void deleteWorkflowSchedule(
      DeleteWorkflowScheduleRequest request,
      StreamObserver<DeleteWorkflowScheduleResponse> caller) {
    blocking.answer(
        caller,
        () ->
            schedules.delete(
                Arguments.namespace(request.getNamespace()),
                id(request.getScheduleId()),
                Arguments.requestId(request.getRequestId())),
        deleted ->
            DeleteWorkflowScheduleResponse.newBuilder()
                .setDeleted(deleted)
                .setMessage(
                    deleted
                        ? "schedule " + request.getScheduleId() + " deleted; its runs are kept"
                        : "schedule not found: " + request.getScheduleId())
                .build());
  }

  @Override
  public void triggerWorkflowSchedule(
      TriggerWorkflowScheduleRequest request,
      StreamObserver<TriggerWorkflowScheduleResponse> caller) {
    blocking.answer(
        caller,
        () ->
            starts.trigger(
                Arguments.namespace(request.getNamespace()),
                id(request.getScheduleId()),
                Arguments.runIdOrNull("run_id", request.getRunId())),
        run -> TriggerWorkflowScheduleResponse.newBuilder().setRunId(run.toString()).build());
  }

  @Override
  public void pauseWorkflowSchedule(
      PauseWorkflowScheduleRequest request, StreamObserver<PauseWorkflowScheduleResponse> caller) {
    blocking.answer(
        caller,
        () ->
            schedules.setEnabled(
                Arguments.namespace(request.getNamespace()),
                id(request.getScheduleId()),
                false,
                Arguments.requestId(request.getRequestId())),
        now ->
            PauseWorkflowScheduleResponse.newBuilder()
                .setSchedule(ScheduleArguments.message(now))
                .build());
  }

  @Override
  public void resumeWorkflowSchedule(
      ResumeWorkflowScheduleRequest request,
      StreamObserver<ResumeWorkflowScheduleResponse> caller) {
    blocking.answer(
        caller,
        () ->
            schedules.setEnabled(
                Arguments.namespace(request.getNamespace()),
                id(request.getScheduleId()),
                true,
                Arguments.requestId(request.getRequestId())),
        now ->
            ResumeWorkflowScheduleResponse.newBuilder()
                .setSchedule(ScheduleArguments.message(now))
                .build());
  }

  @Override
  public void listScheduleRuns(
      ListScheduleRunsRequest request, StreamObserver<ListScheduleRunsResponse> caller) {
    blocking.answer(
        caller,
        () ->
            queries.runs(
                RunFilter.ofSchedule(
                    Arguments.namespace(request.getNamespace()),
                    id(request.getScheduleId()).value()),
                Arguments.page(request.getPage())),
        page ->
            ListScheduleRunsResponse.newBuilder()
                .setPage(ResponseMapper.page(page))
                .addAllRuns(ResponseMapper.items(page, ResponseMapper::workflow))
                .build());
  }

  @Override
  public void previewSchedule(
      PreviewScheduleRequest request, StreamObserver<PreviewScheduleResponse> caller) {
    blocking.answer(
        caller,
        () ->
            schedules.preview(
                request.getCronExpr(),
                ScheduleArguments.zone(request.getTimeZone()),
                request.getCount(),
                request.hasAfter() ? Arguments.instant("after", request.getAfter()) : null),
        times -> {
          PreviewScheduleResponse.Builder message = PreviewScheduleResponse.newBuilder();
          times.forEach(time -> message.addFireTimes(ResponseMapper.timestamp(time)));
          return message.build();
        });
  }

  @Override
  public void backfillSchedule(
      BackfillScheduleRequest request, StreamObserver<BackfillScheduleResponse> caller) {
    blocking.answer(
        caller,
        () ->
            starts.backfill(
                Arguments.namespace(request.getNamespace()),
                id(request.getScheduleId()),
                Arguments.instant("from", request.getFrom()),
                Arguments.instant("to", request.getTo()),
                Arguments.requestId(request.getRequestId())),
        done ->
            BackfillScheduleResponse.newBuilder()
                .setStarted(done.started())
                .setExisted(done.existed())
                .setConflicts(done.conflicts())
                .build());
  }

  private static RunId id(String text) {
    return Arguments.runId("schedule_id", text);
  }
}
