package dev.kagzi.server;

import static dev.kagzi.server.TestServer.payload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.CreateNamespaceRequest;
import dev.kagzi.protocol.v1.DisableNamespaceRequest;
import dev.kagzi.protocol.v1.EnableNamespaceRequest;
import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.GetStepRequest;
import dev.kagzi.protocol.v1.GetWorkflowByExternalIdRequest;
import dev.kagzi.protocol.v1.ListNamespacesRequest;
import dev.kagzi.protocol.v1.ListStepsRequest;
import dev.kagzi.protocol.v1.ListWorkersRequest;
import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.ListWorkflowsResponse;
import dev.kagzi.protocol.v1.Namespace;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.StepStatus;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.UpdateNamespaceRequest;
import dev.kagzi.protocol.v1.WorkerStatus;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowOrigin;
import dev.kagzi.protocol.v1.WorkflowStatus;
import io.grpc.Status;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Everything that the engine stores is shown. */
class ViewsTest {
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
  void a_run_shows_all_that_is_known_of_it() {
    String runId =
        server
            .workflows()
            .startWorkflow(TestServer.start("views", "order").setExternalId("order-1").build())
            .getRunId();
    try (BatchWorker worker = new BatchWorker(server, "views", "order")) {
      Task task = worker.poll(1).get(0);
      Workflow running = byExternalId("order-1");
      worker.report(
          BatchWorker.item(task)
              .setSleep(
                  ReportItem.SleepStarted.newBuilder().setStepKey("nap").setDurationMs(600_000)));
      Workflow sleeping = server.run(runId);

      assertThat(running.getRunId()).isEqualTo(runId);
      assertThat(running.getNamespace()).isEqualTo("default");
      assertThat(running.getTaskQueue()).isEqualTo("views");
      assertThat(running.getWorkflowType()).isEqualTo("order");
      assertThat(running.getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_RUNNING);
      assertThat(running.getWorkerId()).isEqualTo(worker.id);
      assertThat(running.getInput()).isEqualTo(payload("\"in\""));
      assertThat(running.hasOutput()).isFalse();
      assertThat(running.hasStartedAt()).isTrue();
      assertThat(running.hasFinishedAt()).isFalse();
      assertThat(running.getOrigin()).isEqualTo(WorkflowOrigin.WORKFLOW_ORIGIN_CLIENT);
      assertThat(running.getEpoch()).isEqualTo(1);
      assertThat(running.getAttempts()).isEqualTo(1);
      assertThat(sleeping.getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_SLEEPING);
      assertThat(sleeping.getWakeUpAt().getSeconds() - sleeping.getStartedAt().getSeconds())
          .isBetween(590L, 630L);
      assertThat(sleeping.hasWorkerId()).isFalse();
    }
  }

  @Test
  void a_failed_run_and_its_step_show_the_error_as_it_was_reported() {
    server.startRun("failing", "order");
    ErrorDetail error =
        ErrorDetail.newBuilder()
            .setCode(ErrorCode.ERROR_CODE_UNAVAILABLE)
            .setMessage("no money")
            .setNonRetryable(true)
            .setSubject("account")
            .setSubjectId("42")
            .putMetadata("type", "java.io.IOException")
            .build();
    try (BatchWorker worker = new BatchWorker(server, "failing", "order")) {
      Task task = worker.poll(1).get(0);
      worker.report(
          BatchWorker.item(task)
              .setStepFailed(
                  ReportItem.StepFailed.newBuilder()
                      .setStepKey("charge#2")
                      .setAttempt(1)
                      .setError(error)),
          BatchWorker.item(task)
              .setWorkflowFailed(ReportItem.WorkflowFailed.newBuilder().setError(error)));

      Workflow run = server.run(task.getRunId());
      Step step =
          server
              .admin()
              .listSteps(ListStepsRequest.newBuilder().setRunId(task.getRunId()).build())
              .getSteps(0);

      assertThat(run.getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_FAILED);
      assertThat(run.getError()).isEqualTo(error);
      assertThat(run.hasFinishedAt()).isTrue();
      assertThat(step.getName()).isEqualTo("charge");
      assertThat(step.getKind()).isEqualTo(StepKind.STEP_KIND_FUNCTION);
      assertThat(step.getStatus()).isEqualTo(StepStatus.STEP_STATUS_FAILED);
      assertThat(step.getError()).isEqualTo(error);
      assertThat(
              server
                  .admin()
                  .getStep(GetStepRequest.newBuilder().setStepId(step.getStepId()).build())
                  .getStep())
          .isEqualTo(step);
    }
  }

  @Test
  void lists_are_walked_page_by_page_in_both_directions() {
    Set<String> started = new HashSet<>();
    for (int i = 0; i < 5; i++) {
      started.add(server.startRun("pages", "paged"));
    }

    ListWorkflowsResponse first = list(PageRequest.newBuilder().setIncludeTotalCount(true));
    ListWorkflowsResponse second =
        list(PageRequest.newBuilder().setPageToken(first.getPage().getNextPageToken()));
    ListWorkflowsResponse third =
        list(PageRequest.newBuilder().setPageToken(second.getPage().getNextPageToken()));
    ListWorkflowsResponse back =
        list(PageRequest.newBuilder().setPageToken(second.getPage().getPrevPageToken()));

    Set<String> seen = new HashSet<>();
    first.getWorkflowsList().forEach(run -> seen.add(run.getRunId()));
    second.getWorkflowsList().forEach(run -> seen.add(run.getRunId()));
    third.getWorkflowsList().forEach(run -> seen.add(run.getRunId()));
    assertThat(seen).isEqualTo(started);
    assertThat(first.getPage().getTotalCount()).isEqualTo(5);
    assertThat(first.getPage().getPrevPageToken()).isEmpty();
    assertThat(second.getPage().getHasMore()).isTrue();
    assertThat(third.getPage().getHasMore()).isFalse();
    assertThat(third.getPage().getNextPageToken()).isEmpty();
    assertThat(back.getWorkflowsList()).isEqualTo(first.getWorkflowsList());
  }

  private static ListWorkflowsResponse list(PageRequest.Builder page) {
    return server
        .workflows()
        .listWorkflows(
            ListWorkflowsRequest.newBuilder()
                .setWorkflowType("paged")
                .addStatuses(WorkflowStatus.WORKFLOW_STATUS_PENDING)
                .setPage(page.setPageSize(2))
                .build());
  }

  @Test
  void workers_are_listed_by_queue_and_status() {
    try (BareWorker worker = new BareWorker(server, "listed", "host-7", 77, "b", "a")) {
      assertThat(worker.heartbeatIntervalSecs()).isPositive();
      assertThat(
              server
                  .admin()
                  .listWorkers(
                      ListWorkersRequest.newBuilder()
                          .setTaskQueue("listed")
                          .setStatusFilter(WorkerStatus.WORKER_STATUS_ONLINE)
                          .build())
                  .getWorkersList())
          .singleElement()
          .satisfies(
              shown -> {
                assertThat(shown.getWorkerId()).isEqualTo(worker.id());
                assertThat(shown.getHostname()).isEqualTo("host-7");
                assertThat(shown.getPid()).isEqualTo(77);
                assertThat(shown.getWorkflowTypesList()).containsExactlyInAnyOrder("a", "b");
                assertThat(shown.hasRegisteredAt()).isTrue();
                assertThat(shown.hasLastHeartbeatAt()).isTrue();
              });
    }
  }

  @Test
  void a_namespace_is_created_updated_and_disabled() {
    Namespace created =
        server
            .namespaces()
            .createNamespace(
                CreateNamespaceRequest.newBuilder()
                    .setNamespace("tenant")
                    .setDisplayName("A tenant")
                    .build())
            .getNamespace();
    CallErrors.refused(
        Status.Code.ALREADY_EXISTS,
        () ->
            server
                .namespaces()
                .createNamespace(
                    CreateNamespaceRequest.newBuilder().setNamespace("tenant").build()));
    Namespace changed =
        server
            .namespaces()
            .updateNamespace(
                UpdateNamespaceRequest.newBuilder()
                    .setNamespace("tenant")
                    .setDescription("pays well")
                    .build())
            .getNamespace();
    boolean disabled =
        server
            .namespaces()
            .disableNamespace(DisableNamespaceRequest.newBuilder().setNamespace("tenant").build())
            .getNamespace()
            .getEnabled();
    CallErrors.refused(
        Status.Code.FAILED_PRECONDITION,
        () ->
            server
                .workflows()
                .startWorkflow(TestServer.start("q", "t").setNamespace("tenant").build()));
    boolean enabled =
        server
            .namespaces()
            .enableNamespace(EnableNamespaceRequest.newBuilder().setNamespace("tenant").build())
            .getNamespace()
            .getEnabled();

    assertThat(created.getId()).isNotEmpty();
    assertThat(created.getEnabled()).isTrue();
    assertThat(changed.getDisplayName()).isEqualTo("A tenant");
    assertThat(changed.getDescription()).isEqualTo("pays well");
    assertThat(disabled).isFalse();
    assertThat(enabled).isTrue();
    assertThat(
            server
                .namespaces()
                .listNamespaces(ListNamespacesRequest.getDefaultInstance())
                .getNamespacesList())
        .extracting(Namespace::getNamespace)
        .containsExactly("default", "tenant");
  }

  private static Workflow byExternalId(String externalId) {
    return server
        .workflows()
        .getWorkflowByExternalId(
            GetWorkflowByExternalIdRequest.newBuilder().setExternalId(externalId).build())
        .getWorkflow();
  }
}
