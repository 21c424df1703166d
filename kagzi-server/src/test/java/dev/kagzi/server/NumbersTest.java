package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import dev.kagzi.protocol.v1.CreateNamespaceRequest;
import dev.kagzi.protocol.v1.DisableNamespaceRequest;
import dev.kagzi.protocol.v1.ForceOfflineWorkerRequest;
import dev.kagzi.protocol.v1.GetHealthRequest;
import dev.kagzi.protocol.v1.GetHealthResponse;
import dev.kagzi.protocol.v1.GetQueueDepthRequest;
import dev.kagzi.protocol.v1.GetQueueDepthResponse;
import dev.kagzi.protocol.v1.GetStatsRequest;
import dev.kagzi.protocol.v1.GetStatsResponse;
import dev.kagzi.protocol.v1.HealthStatus;
import dev.kagzi.protocol.v1.ListWorkerEventsRequest;
import dev.kagzi.protocol.v1.ListWorkerEventsResponse;
import dev.kagzi.protocol.v1.ListWorkflowTypesRequest;
import dev.kagzi.protocol.v1.ListWorkflowTypesResponse;
import dev.kagzi.protocol.v1.Namespace;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.PollTasksRequest;
import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.TypeVersion;
import dev.kagzi.protocol.v1.UpdateNamespaceRequest;
import dev.kagzi.protocol.v1.WorkflowTypeInfo;
import io.grpc.Status;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Counts of runs, workers and schedules. */
class NumbersTest {
  private static TestServer server;

  @BeforeAll
  static void open() {
    server = TestServer.start();
  }

  @AfterAll
  static void close() {
    server.close();
  }

  private static String tenant(String name) {
    return server
        .namespaces()
        .createNamespace(CreateNamespaceRequest.newBuilder().setNamespace(name).build())
        .getNamespace()
        .getNamespace();
  }

  private static void start(String namespace, String queue, String type, String version) {
    server
        .workflows()
        .startWorkflow(
            TestServer.start(queue, type).setNamespace(namespace).setVersion(version).build());
  }

  @Test
  void stats_depth_and_types_count_what_exists() {
    String tenant = tenant("counted");
    start(tenant, "slow", "report", "2");
    start(tenant, "slow", "report", "3");
    start(tenant, "fast", "order", "");

    GetStatsResponse stats =
        server.admin().getStats(GetStatsRequest.newBuilder().setNamespace(tenant).build());
    GetQueueDepthResponse depth =
        server
            .admin()
            .getQueueDepth(GetQueueDepthRequest.newBuilder().setNamespace(tenant).build());
    GetQueueDepthResponse slow =
        server
            .admin()
            .getQueueDepth(
                GetQueueDepthRequest.newBuilder()
                    .setNamespace(tenant)
                    .setTaskQueue("slow")
                    .build());

    assertThat(stats.getTotalWorkflows()).isEqualTo(3);
    assertThat(stats.getPendingWorkflows()).isEqualTo(3);
    assertThat(stats.getWorkflowsByStatusMap())
        .containsEntry("PENDING", 3L)
        .containsEntry("COMPLETED", 0L);
    assertThat(stats.getWorkflowsByTypeMap()).containsOnly(entry("report", 2L), entry("order", 1L));
    assertThat(depth.getPendingCount()).isEqualTo(3);
    assertThat(depth.getDepthByQueueMap()).containsEntry("slow", 2L).containsEntry("fast", 1L);
    assertThat(slow.getPendingCount()).isEqualTo(2);
    assertThat(slow.getDepthByQueueMap()).containsOnlyKeys("slow");
    assertThat(server.admin().getStats(GetStatsRequest.getDefaultInstance()).getTotalWorkflows())
        .isGreaterThanOrEqualTo(3);
  }

  @Test
  void types_are_listed_page_by_page_in_both_directions() {
    String tenant = tenant("typed");
    start(tenant, "q", "a", "");
    start(tenant, "q2", "a", "7");
    start(tenant, "q", "b", "");
    start(tenant, "q", "c", "");

    ListWorkflowTypesResponse first = types(tenant, "");
    ListWorkflowTypesResponse last = types(tenant, first.getPage().getNextPageToken());
    ListWorkflowTypesResponse back = types(tenant, last.getPage().getPrevPageToken());

    assertThat(first.getWorkflowTypesList())
        .extracting(WorkflowTypeInfo::getWorkflowType)
        .containsExactly("a", "b");
    WorkflowTypeInfo a = first.getWorkflowTypes(0);
    assertThat(a.getTotalRuns()).isEqualTo(2);
    assertThat(a.getActiveRuns()).isEqualTo(2);
    assertThat(a.getTaskQueuesList()).containsExactly("q", "q2");
    assertThat(a.getActiveRunsByVersionMap()).containsEntry("", 1L).containsEntry("7", 1L);
    assertThat(first.getPage().getHasMore()).isTrue();
    assertThat(first.getPage().getPrevPageToken()).isEmpty();
    assertThat(first.getPage().getTotalCount()).isEqualTo(3);
    assertThat(last.getWorkflowTypesList())
        .extracting(WorkflowTypeInfo::getWorkflowType)
        .containsExactly("c");
    assertThat(last.getPage().getHasMore()).isFalse();
    assertThat(last.getPage().getNextPageToken()).isEmpty();
    assertThat(back.getWorkflowTypesList()).isEqualTo(first.getWorkflowTypesList());
    CallErrors.refused(
        Status.Code.INVALID_ARGUMENT, () -> types("default", first.getPage().getNextPageToken()));
  }

  private static ListWorkflowTypesResponse types(String namespace, String token) {
    return server
        .admin()
        .listWorkflowTypes(
            ListWorkflowTypesRequest.newBuilder()
                .setNamespace(namespace)
                .setPage(
                    PageRequest.newBuilder()
                        .setPageSize(2)
                        .setPageToken(token)
                        .setIncludeTotalCount(true))
                .build());
  }

  @Test
  void health_names_the_database_and_each_worker() {
    try (BatchWorker worker = new BatchWorker(server, "healthy", "t")) {
      worker.heartbeat();

      GetHealthResponse health = server.admin().getHealth(GetHealthRequest.getDefaultInstance());

      assertThat(health.getDatabase().getStatus()).isEqualTo(HealthStatus.HEALTH_STATUS_HEALTHY);
      assertThat(health.getWorkersList())
          .anySatisfy(
              one -> {
                assertThat(one.getWorkerId()).isEqualTo(worker.id);
                assertThat(one.getTaskQueue()).isEqualTo("healthy");
                assertThat(one.getStatus()).isEqualTo(HealthStatus.HEALTH_STATUS_HEALTHY);
              });
      assertThat(health.getHealthyWorkers()).isPositive();
    }
  }

  @Test
  void a_worker_that_is_forced_offline_loses_its_runs_and_an_event_records_it() {
    try (BatchWorker worker = new BatchWorker(server, "forced", "t");
        BatchWorker other = new BatchWorker(server, "forced", "t")) {
      server.startRun("forced", "t");
      Task task = worker.poll(1).get(0);

      int freed =
          server
              .admin()
              .forceOfflineWorker(
                  ForceOfflineWorkerRequest.newBuilder()
                      .setWorkerId(worker.id)
                      .setReason("host burns")
                      .build())
              .getFreedRuns();

      assertThat(freed).isEqualTo(1);
      assertThat(other.poll(1).get(0).getRunId()).isEqualTo(task.getRunId());
      ListWorkerEventsResponse events = events(worker.id, "");
      assertThat(events.getEvents(0).getEvent()).isEqualTo("OFFLINE");
      assertThat(events.getEvents(0).getReason())
          .isEqualTo("forced by an administrator: host burns");
      assertThat(events.getPage().getHasMore()).isTrue();
      ListWorkerEventsResponse rest = events(worker.id, events.getPage().getNextPageToken());
      assertThat(rest.getEvents(0).getEvent()).isEqualTo("ONLINE");
      assertThat(rest.getPage().getHasMore()).isFalse();
      CallErrors.refused(
          Status.Code.NOT_FOUND,
          () ->
              server
                  .admin()
                  .forceOfflineWorker(
                      ForceOfflineWorkerRequest.newBuilder().setWorkerId(worker.id).build()));
    }
  }

  private static ListWorkerEventsResponse events(String worker, String token) {
    return server
        .admin()
        .listWorkerEvents(
            ListWorkerEventsRequest.newBuilder()
                .setWorkerId(worker)
                .setPage(PageRequest.newBuilder().setPageSize(1).setPageToken(token))
                .build());
  }

  @Test
  void a_poll_of_a_disabled_namespace_gets_nothing_and_is_not_refused() {
    String tenant = tenant("asleep");
    String worker =
        server
            .workers()
            .register(
                RegisterRequest.newBuilder()
                    .setNamespace(tenant)
                    .setTaskQueue("q")
                    .addWorkflowTypes("t")
                    .build())
            .getWorkerId();
    start(tenant, "q", "t", "");
    server
        .namespaces()
        .disableNamespace(DisableNamespaceRequest.newBuilder().setNamespace(tenant).build());

    List<Task> tasks =
        server
            .workers()
            .pollTasks(
                PollTasksRequest.newBuilder()
                    .setNamespace(tenant)
                    .setWorkerId(worker)
                    .setTaskQueue("q")
                    .addTypes(TypeVersion.newBuilder().setWorkflowType("t"))
                    .setMaxTasks(1)
                    .setWaitMs(200)
                    .build())
            .getTasksList();

    assertThat(tasks).isEmpty();
  }

  @Test
  void a_namespace_shows_its_retention() {
    Namespace created =
        server
            .namespaces()
            .createNamespace(
                CreateNamespaceRequest.newBuilder()
                    .setNamespace("kept")
                    .setRetentionMs(60_000)
                    .build())
            .getNamespace();
    Namespace forEver = update(UpdateNamespaceRequest.newBuilder().setRetentionMs(0));
    Namespace same = update(UpdateNamespaceRequest.newBuilder().setDescription("x"));
    Namespace servers = update(UpdateNamespaceRequest.newBuilder().setClearRetention(true));

    assertThat(created.getRetentionMs()).isEqualTo(60_000);
    assertThat(forEver.hasRetentionMs()).isTrue();
    assertThat(forEver.getRetentionMs()).isZero();
    assertThat(same.hasRetentionMs()).isTrue();
    assertThat(servers.hasRetentionMs()).isFalse();
    CallErrors.refused(
        Status.Code.INVALID_ARGUMENT,
        () -> update(UpdateNamespaceRequest.newBuilder().setRetentionMs(-1)));
  }

  private static Namespace update(UpdateNamespaceRequest.Builder request) {
    return server.namespaces().updateNamespace(request.setNamespace("kept").build()).getNamespace();
  }
}
