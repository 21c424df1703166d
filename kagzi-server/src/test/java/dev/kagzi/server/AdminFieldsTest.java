package dev.kagzi.server;

import static dev.kagzi.server.BatchWorker.item;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.Timestamp;
import dev.kagzi.protocol.v1.CreateNamespaceRequest;
import dev.kagzi.protocol.v1.CreateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.DeregisterRequest;
import dev.kagzi.protocol.v1.DrainWorkerRequest;
import dev.kagzi.protocol.v1.DrainWorkerResponse;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.GetQueueDepthRequest;
import dev.kagzi.protocol.v1.GetQueueDepthResponse;
import dev.kagzi.protocol.v1.GetStatsRequest;
import dev.kagzi.protocol.v1.GetStatsResponse;
import dev.kagzi.protocol.v1.GetWorkerRequest;
import dev.kagzi.protocol.v1.HealthCheckRequest;
import dev.kagzi.protocol.v1.HealthCheckResponse;
import dev.kagzi.protocol.v1.ListWorkerEventsRequest;
import dev.kagzi.protocol.v1.ListWorkersRequest;
import dev.kagzi.protocol.v1.ListWorkersResponse;
import dev.kagzi.protocol.v1.ListWorkflowTypesRequest;
import dev.kagzi.protocol.v1.Namespace;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.SetDefaultVersionRequest;
import dev.kagzi.protocol.v1.SetDefaultVersionResponse;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.TypeVersion;
import dev.kagzi.protocol.v1.UpdateNamespaceRequest;
import dev.kagzi.protocol.v1.Worker;
import dev.kagzi.protocol.v1.WorkerEvent;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowTypeConcurrency;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The fields of the operators' calls. */
class AdminFieldsTest {
  private static TestServer server;

  @BeforeAll
  static void startServer() {
    server = TestServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  @Test
  void a_registration_with_more_than_1000_types_is_refused() {
    RegisterRequest.Builder request = RegisterRequest.newBuilder().setTaskQueue("crowded");
    for (int i = 0; i <= 1_000; i++) {
      request.addWorkflowTypes("t" + i);
    }

    assertThatThrownBy(() -> server.workers().register(request.build()))
        .hasMessageContaining("workflow_types: 1001 entries")
        .hasMessageContaining("at most 1000");
  }

  @Test
  void stats_and_depth_count_runs_in_every_state_workers_and_schedules() {
    try (TestServer own = TestServer.start();
        BatchWorker worker = new BatchWorker(own, "q", "t");
        BatchWorker left = new BatchWorker(own, "q", "t")) {
      for (int i = 0; i < 4; i++) {
        own.startRun("q", "t");
      }
      List<Task> tasks = worker.poll(4);
      assertThat(tasks).hasSize(4);
      worker.report(
          BatchWorker.done(tasks.get(0)),
          item(tasks.get(1))
              .setWorkflowFailed(
                  ReportItem.WorkflowFailed.newBuilder()
                      .setError(ErrorDetail.newBuilder().setMessage("no"))),
          item(tasks.get(2))
              .setSleep(
                  ReportItem.SleepStarted.newBuilder().setStepKey("nap").setDurationMs(600_000)));
      own.workers().deregister(DeregisterRequest.newBuilder().setWorkerId(left.id).build());
      var schedules = WorkflowScheduleServiceGrpc.newBlockingStub(own.sharedChannel());
      CreateWorkflowScheduleRequest.Builder schedule =
          CreateWorkflowScheduleRequest.newBuilder()
              .setTaskQueue("q")
              .setWorkflowType("t")
              .setCronExpr("@yearly");
      schedules.createWorkflowSchedule(schedule.build());
      schedules.createWorkflowSchedule(schedule.setEnabled(false).build());

      GetStatsResponse stats = own.admin().getStats(GetStatsRequest.getDefaultInstance());
      GetQueueDepthResponse depth =
          own.admin().getQueueDepth(GetQueueDepthRequest.getDefaultInstance());

      assertThat(stats.getTotalWorkflows()).isEqualTo(4);
      assertThat(stats.getRunningWorkflows()).isEqualTo(1);
      assertThat(stats.getCompletedWorkflows()).isEqualTo(1);
      assertThat(stats.getFailedWorkflows()).isEqualTo(1);
      assertThat(stats.getWorkflowsByStatusOrThrow("SLEEPING")).isEqualTo(1);
      assertThat(stats.getTotalWorkers()).isEqualTo(2);
      assertThat(stats.getOnlineWorkers()).isEqualTo(1);
      assertThat(stats.getTotalSchedules()).isEqualTo(2);
      assertThat(stats.getEnabledSchedules()).isEqualTo(1);
      assertThat(depth.getPendingCount()).isZero();
      assertThat(depth.getRunningCount()).isEqualTo(1);
      assertThat(depth.getSleepingCount()).isEqualTo(1);
    }
  }

  @Test
  void a_worker_is_shown_as_it_registered_until_it_has_left() {
    TypeVersion served = TypeVersion.newBuilder().setWorkflowType("t").setVersion("7").build();
    WorkflowTypeConcurrency limit =
        WorkflowTypeConcurrency.newBuilder().setWorkflowType("t").setMaxConcurrent(3).build();
    String id =
        server
            .workers()
            .register(
                RegisterRequest.newBuilder()
                    .setTaskQueue("shown")
                    .addWorkflowTypes("t")
                    .addServed(served)
                    .setHostname("host")
                    .setPid(42)
                    .setVersion("1.2.3")
                    .putLabels("zone", "a")
                    .setQueueConcurrencyLimit(5)
                    .addWorkflowTypeConcurrency(limit)
                    .build())
            .getWorkerId();
    server
        .workers()
        .register(RegisterRequest.newBuilder().setTaskQueue("shown").addWorkflowTypes("t").build());

    ListWorkersResponse page =
        server
            .admin()
            .listWorkers(
                ListWorkersRequest.newBuilder()
                    .setTaskQueue("shown")
                    .setPage(PageRequest.newBuilder().setPageSize(1))
                    .build());
    server.workers().deregister(DeregisterRequest.newBuilder().setWorkerId(id).build());
    Worker gone =
        server.admin().getWorker(GetWorkerRequest.newBuilder().setWorkerId(id).build()).getWorker();
    List<WorkerEvent> events =
        server
            .admin()
            .listWorkerEvents(ListWorkerEventsRequest.newBuilder().setWorkerId(id).build())
            .getEventsList();

    Worker shown = page.getWorkers(0);
    assertThat(page.getPage().getHasMore()).isTrue();
    assertThat(shown.getWorkerId()).isEqualTo(id);
    assertThat(shown.getVersion()).isEqualTo("1.2.3");
    assertThat(shown.getLabelsMap()).containsEntry("zone", "a");
    assertThat(shown.getQueueConcurrencyLimit()).isEqualTo(5);
    assertThat(shown.getWorkflowTypeConcurrencyList()).containsExactly(limit);
    assertThat(shown.getServedList()).containsExactly(served);
    assertThat(shown.hasDeregisteredAt()).isFalse();
    assertThat(gone.getDeregisteredAt().getSeconds())
        .isGreaterThanOrEqualTo(shown.getRegisteredAt().getSeconds());
    assertThat(events).hasSize(2).allMatch(event -> event.getWorkerId().equals(id));
    assertThat(events.get(0).getEventId()).isGreaterThan(events.get(1).getEventId());
    assertThat(events.get(0).getAt()).isEqualTo(gone.getDeregisteredAt());
  }

  @Test
  void a_drain_reports_whether_the_worker_was_still_online() {
    try (BatchWorker worker = new BatchWorker(server, "drained", "t")) {
      DrainWorkerResponse first = drain(worker.id);
      server.workers().deregister(DeregisterRequest.newBuilder().setWorkerId(worker.id).build());
      DrainWorkerResponse late = drain(worker.id);

      assertThat(first.getSuccess()).isTrue();
      assertThat(first.getMessage()).isEqualTo("the worker takes no new work");
      assertThat(late.getSuccess()).isFalse();
      assertThat(late.getMessage()).isEqualTo("the worker is offline already");
    }
  }

  private static DrainWorkerResponse drain(String worker) {
    return server.admin().drainWorker(DrainWorkerRequest.newBuilder().setWorkerId(worker).build());
  }

  @Test
  void starts_without_a_version_take_the_default_version() {
    SetDefaultVersionResponse first = setDefault("1");
    SetDefaultVersionResponse second = setDefault("2");
    String run = server.startRun("versions", "versioned");

    assertThat(first.getFormerVersion()).isEmpty();
    assertThat(second.getFormerVersion()).isEqualTo("1");
    assertThat(server.run(run).getVersion()).isEqualTo("2");
    assertThat(
            server
                .admin()
                .listWorkflowTypes(ListWorkflowTypesRequest.getDefaultInstance())
                .getWorkflowTypesList())
        .filteredOn(type -> type.getWorkflowType().equals("versioned"))
        .singleElement()
        .satisfies(type -> assertThat(type.getDefaultVersion()).isEqualTo("2"));
  }

  private static SetDefaultVersionResponse setDefault(String version) {
    return server
        .admin()
        .setDefaultVersion(
            SetDefaultVersionRequest.newBuilder()
                .setWorkflowType("versioned")
                .setVersion(version)
                .build());
  }

  @Test
  void a_health_check_reports_status_and_time() {
    HealthCheckResponse health =
        server.admin().healthCheck(HealthCheckRequest.getDefaultInstance());

    assertThat(health.getMessage()).isEqualTo("ready");
    assertThat(health.getTimestamp().getSeconds()).isGreaterThan(1_700_000_000);
  }

  @Test
  void a_namespace_shows_its_texts_and_when_they_changed() {
    Namespace made =
        server
            .namespaces()
            .createNamespace(
                CreateNamespaceRequest.newBuilder()
                    .setNamespace("words")
                    .setDescription("for words")
                    .build())
            .getNamespace();
    Namespace changed =
        server
            .namespaces()
            .updateNamespace(
                UpdateNamespaceRequest.newBuilder()
                    .setNamespace("words")
                    .setDisplayName("Words")
                    .build())
            .getNamespace();

    assertThat(made.getDescription()).isEqualTo("for words");
    assertThat(changed.getDescription()).isEqualTo("for words");
    assertThat(changed.getDisplayName()).isEqualTo("Words");
    assertThat(changed.getCreatedAt()).isEqualTo(made.getCreatedAt());
    assertThat(made.getUpdatedAt()).isEqualTo(made.getCreatedAt());
    assertThat(nanos(changed.getUpdatedAt())).isGreaterThan(nanos(made.getUpdatedAt()));
  }

  private static long nanos(Timestamp at) {
    return at.getSeconds() * 1_000_000_000 + at.getNanos();
  }
}
