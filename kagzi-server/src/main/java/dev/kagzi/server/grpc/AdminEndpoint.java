package dev.kagzi.server.grpc;

import dev.kagzi.engine.diagnosis.Diagnosis;
import dev.kagzi.engine.namespace.NamespaceView;
import dev.kagzi.engine.namespace.Namespaces;
import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.query.Queries;
import dev.kagzi.engine.query.WorkerView;
import dev.kagzi.engine.run.DefaultVersions;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.StepRef;
import dev.kagzi.engine.worker.Workers;
import dev.kagzi.protocol.v1.AdminServiceGrpc.AdminServiceImplBase;
import dev.kagzi.protocol.v1.DiagnoseRequest;
import dev.kagzi.protocol.v1.DiagnoseResponse;
import dev.kagzi.protocol.v1.DrainWorkerRequest;
import dev.kagzi.protocol.v1.DrainWorkerResponse;
import dev.kagzi.protocol.v1.ForceOfflineWorkerRequest;
import dev.kagzi.protocol.v1.ForceOfflineWorkerResponse;
import dev.kagzi.protocol.v1.GetHealthRequest;
import dev.kagzi.protocol.v1.GetHealthResponse;
import dev.kagzi.protocol.v1.GetOverviewRequest;
import dev.kagzi.protocol.v1.GetOverviewResponse;
import dev.kagzi.protocol.v1.GetQueueDepthRequest;
import dev.kagzi.protocol.v1.GetQueueDepthResponse;
import dev.kagzi.protocol.v1.GetServerInfoRequest;
import dev.kagzi.protocol.v1.GetServerInfoResponse;
import dev.kagzi.protocol.v1.GetStatsRequest;
import dev.kagzi.protocol.v1.GetStatsResponse;
import dev.kagzi.protocol.v1.GetStepRequest;
import dev.kagzi.protocol.v1.GetStepResponse;
import dev.kagzi.protocol.v1.GetWorkerRequest;
import dev.kagzi.protocol.v1.GetWorkerResponse;
import dev.kagzi.protocol.v1.HealthCheckRequest;
import dev.kagzi.protocol.v1.HealthCheckResponse;
import dev.kagzi.protocol.v1.ListQueuesRequest;
import dev.kagzi.protocol.v1.ListQueuesResponse;
import dev.kagzi.protocol.v1.ListStepsRequest;
import dev.kagzi.protocol.v1.ListStepsResponse;
import dev.kagzi.protocol.v1.ListWorkerEventsRequest;
import dev.kagzi.protocol.v1.ListWorkerEventsResponse;
import dev.kagzi.protocol.v1.ListWorkersRequest;
import dev.kagzi.protocol.v1.ListWorkersResponse;
import dev.kagzi.protocol.v1.ListWorkflowTypesRequest;
import dev.kagzi.protocol.v1.ListWorkflowTypesResponse;
import dev.kagzi.protocol.v1.ServingStatus;
import dev.kagzi.protocol.v1.SetDefaultVersionRequest;
import dev.kagzi.protocol.v1.SetDefaultVersionResponse;
import dev.kagzi.protocol.v1.WorkerStatus;
import io.grpc.stub.StreamObserver;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

final class AdminEndpoint extends AdminServiceImplBase {
  private static final String API_VERSION = "kagzi.v1";
  private static final String SDK_VERSION_MIN = "0.1.0";

  /** Features beyond the base protocol; each optional field or call belongs to one of them. */
  private static final List<String> FEATURES =
      List.of(
          "attach",
          "await-workflow",
          "backfill-schedule",
          "backward-paging",
          "blocked-runs",
          "callbacks",
          "caller-run-id",
          "cancel-with-clean-up",
          "children",
          "claim-times",
          "continue-as-new",
          "deadlines",
          "default-versions",
          "diagnose",
          "epochs",
          "exact-counts",
          "explain-workflow",
          "failure-handlers",
          "force-offline-worker",
          "get-health",
          "get-history",
          "get-overview",
          "headers",
          "heartbeat-claims",
          "id-conflict-policies",
          "include-payloads",
          "list-filters",
          "list-queues",
          "poll-tasks",
          "preview-schedule",
          "published-values",
          "report",
          "request-ids",
          "resume-workflow",
          "retention",
          "retry-kinds-and-jitter",
          "retry-version",
          "run-details",
          "schedule-jitter",
          "schedule-names",
          "schedule-overlap-policies",
          "schedule-run-options",
          "schedule-time-zones",
          "schedule-troubles",
          "signals",
          "start-workflows",
          "step-details",
          "timeouts",
          "watch-workflows",
          "worker-counts",
          "worker-events",
          "worker-instances",
          "worker-namespaces",
          "worker-versions");

  private final BlockingCalls blocking;
  private final Queries queries;
  private final Diagnosis diagnosis;
  private final Workers workers;
  private final Namespaces namespaces;
  private final DefaultVersions versions;
  private final Supplier<Optional<String>> notReadyReason;
  private final Set<String> services;
  private final String version;
  private final InstantSource clock = InstantSource.system();

  /**
   * @param services names that a health check may name
   */
  AdminEndpoint(
      GrpcContext context,
      Supplier<Optional<String>> notReadyReason,
      Set<String> services,
      String version) {
    this.blocking = context.blocking();
    this.queries = context.engine().queries();
    this.diagnosis = context.engine().diagnosis();
    this.workers = context.engine().workers();
    this.namespaces = context.engine().namespaces();
    this.versions = context.engine().versions();
    this.notReadyReason = notReadyReason;
    this.services = Set.copyOf(services);
    this.version = version;
  }

  @Override
  public void listWorkers(ListWorkersRequest request, StreamObserver<ListWorkersResponse> caller) {
    blocking.answer(
        caller,
        () -> workers(request),
        page ->
            ListWorkersResponse.newBuilder()
                .setPage(ResponseMapper.page(page))
                .addAllWorkers(ResponseMapper.items(page, ResponseMapper::worker))
                .build());
  }

  private Page<WorkerView> workers(ListWorkersRequest request) {
    WorkerStatus status = request.getStatusFilter();
    return queries.workers(
        Arguments.namespace(request.getNamespace()),
        request.hasTaskQueue() ? request.getTaskQueue() : null,
        status == WorkerStatus.WORKER_STATUS_UNSPECIFIED
            ? null
            : Arguments.workerStatus("status_filter", status),
        Arguments.page(request.getPage()));
  }

  @Override
  public void getWorker(GetWorkerRequest request, StreamObserver<GetWorkerResponse> caller) {
    blocking.answer(
        caller,
        () ->
            queries.worker(
                Arguments.namespaceOrAny(request.hasNamespace(), request.getNamespace()),
                Arguments.workerId(request.getWorkerId())),
        worker -> GetWorkerResponse.newBuilder().setWorker(ResponseMapper.worker(worker)).build());
  }

  @Override
  public void getStep(GetStepRequest request, StreamObserver<GetStepResponse> caller) {
    blocking.answer(
        caller,
        () ->
            queries.step(
                Arguments.namespace(request.getNamespace()), StepRef.parse(request.getStepId())),
        step -> GetStepResponse.newBuilder().setStep(ResponseMapper.step(step)).build());
  }

  @Override
  public void listSteps(ListStepsRequest request, StreamObserver<ListStepsResponse> caller) {
    blocking.answer(
        caller,
        () ->
            queries.steps(
                Arguments.namespace(request.getNamespace()),
                Arguments.runId(request.getRunId()),
                request.hasStepName() ? request.getStepName() : null,
                Arguments.page(request.getPage())),
        page ->
            ListStepsResponse.newBuilder()
                .setPage(ResponseMapper.page(page))
                .addAllSteps(ResponseMapper.items(page, ResponseMapper::step))
                .build());
  }

  @Override
  public void drainWorker(DrainWorkerRequest request, StreamObserver<DrainWorkerResponse> caller) {
    UnaryResponses.answer(
        caller,
        () ->
            workers.drain(
                Arguments.namespaceOrAny(request.hasNamespace(), request.getNamespace()),
                Arguments.workerId(request.getWorkerId())),
        draining ->
            DrainWorkerResponse.newBuilder()
                .setSuccess(draining)
                .setMessage(
                    draining ? "the worker takes no new work" : "the worker is offline already")
                .build());
  }

  @Override
  public void listWorkerEvents(
      ListWorkerEventsRequest request, StreamObserver<ListWorkerEventsResponse> caller) {
    blocking.answer(
        caller,
        () ->
            queries.workerEvents(
                Arguments.namespaceOrAny(request.hasNamespace(), request.getNamespace()),
                Arguments.workerId(request.getWorkerId()),
                Arguments.page(request.getPage())),
        StatsMapper::workerEvents);
  }

  @Override
  public void forceOfflineWorker(
      ForceOfflineWorkerRequest request, StreamObserver<ForceOfflineWorkerResponse> caller) {
    UnaryResponses.answer(
        caller,
        () ->
            workers.forceOffline(
                Arguments.namespaceOrAny(request.hasNamespace(), request.getNamespace()),
                Arguments.workerId(request.getWorkerId()),
                request.getReason(),
                Arguments.requestId(request.getRequestId())),
        freed -> ForceOfflineWorkerResponse.newBuilder().setFreedRuns(freed).build());
  }

  @Override
  public void getStats(GetStatsRequest request, StreamObserver<GetStatsResponse> caller) {
    blocking.answer(
        caller,
        () ->
            queries.stats(Arguments.namespaceOrAny(request.hasNamespace(), request.getNamespace())),
        StatsMapper::stats);
  }

  @Override
  public void getQueueDepth(
      GetQueueDepthRequest request, StreamObserver<GetQueueDepthResponse> caller) {
    blocking.answer(
        caller,
        () ->
            queries.depth(
                Arguments.namespace(request.getNamespace()),
                request.hasTaskQueue() ? request.getTaskQueue() : null),
        StatsMapper::depth);
  }

  @Override
  public void listQueues(ListQueuesRequest request, StreamObserver<ListQueuesResponse> caller) {
    blocking.answer(
        caller,
        () ->
            queries.queues(
                Arguments.namespace(request.getNamespace()), Arguments.page(request.getPage())),
        OperatorMapper::queues);
  }

  @Override
  public void getOverview(GetOverviewRequest request, StreamObserver<GetOverviewResponse> caller) {
    blocking.answer(
        caller,
        () -> queries.overview(Arguments.namespace(request.getNamespace())),
        OperatorMapper::overview);
  }

  @Override
  public void diagnose(DiagnoseRequest request, StreamObserver<DiagnoseResponse> caller) {
    blocking.answer(caller, () -> diagnosis.findings(clock), OperatorMapper::findings);
  }

  @Override
  public void setDefaultVersion(
      SetDefaultVersionRequest request, StreamObserver<SetDefaultVersionResponse> caller) {
    blocking.answer(
        caller,
        () -> {
          NamespaceView namespace = namespaces.get(Arguments.namespace(request.getNamespace()));
          return versions.set(
              namespace.namespace(),
              request.getWorkflowType(),
              request.getVersion(),
              Arguments.requestId(request.getRequestId()));
        },
        former -> SetDefaultVersionResponse.newBuilder().setFormerVersion(former).build());
  }

  @Override
  public void listWorkflowTypes(
      ListWorkflowTypesRequest request, StreamObserver<ListWorkflowTypesResponse> caller) {
    blocking.answer(
        caller,
        () ->
            queries.types(
                Arguments.namespace(request.getNamespace()), Arguments.page(request.getPage())),
        page -> StatsMapper.types(page, Arguments.namespace(request.getNamespace()), versions));
  }

  @Override
  public void getHealth(GetHealthRequest request, StreamObserver<GetHealthResponse> caller) {
    blocking.answer(
        caller,
        () ->
            queries.health(
                Arguments.namespaceOrAny(request.hasNamespace(), request.getNamespace())),
        StatsMapper::health);
  }

  @Override
  public void healthCheck(HealthCheckRequest request, StreamObserver<HealthCheckResponse> caller) {
    blocking.answer(caller, () -> health(request.getService()), Function.identity());
  }

  private HealthCheckResponse health(String service) {
    if (!service.isEmpty() && !services.contains(service)) {
      throw Refusal.notFound("service", service);
    }
    Optional<String> reason = notReadyReason.get();
    return HealthCheckResponse.newBuilder()
        .setStatus(
            reason.isEmpty()
                ? ServingStatus.SERVING_STATUS_SERVING
                : ServingStatus.SERVING_STATUS_NOT_SERVING)
        .setMessage(reason.orElse("ready"))
        .setTimestamp(ResponseMapper.timestamp(clock.instant()))
        .build();
  }

  @Override
  public void getServerInfo(
      GetServerInfoRequest request, StreamObserver<GetServerInfoResponse> caller) {
    UnaryResponses.send(
        caller,
        () ->
            GetServerInfoResponse.newBuilder()
                .setVersion(version)
                .setApiVersion(API_VERSION)
                .addAllSupportedFeatures(FEATURES)
                .setMinSdkVersion(SDK_VERSION_MIN)
                .build());
  }
}
