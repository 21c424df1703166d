package dev.kagzi.server;

import static dev.kagzi.server.BatchWorker.item;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.protocol.v1.CancelWorkflowRequest;
import dev.kagzi.protocol.v1.CancelWorkflowResponse;
import dev.kagzi.protocol.v1.ClaimRef;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.ForceOfflineWorkerRequest;
import dev.kagzi.protocol.v1.HeartbeatRequest;
import dev.kagzi.protocol.v1.HeartbeatResponse;
import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.PollTaskRequest;
import dev.kagzi.protocol.v1.PollTaskResponse;
import dev.kagzi.protocol.v1.PollTasksRequest;
import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ResumeWorkflowRequest;
import dev.kagzi.protocol.v1.RetryWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowResponse;
import dev.kagzi.protocol.v1.StartWorkflowsRequest;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.TerminateWorkflowRequest;
import dev.kagzi.protocol.v1.TypeVersion;
import dev.kagzi.protocol.v1.WatchWorkflowsRequest;
import dev.kagzi.protocol.v1.WatchWorkflowsResponse;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowEnd;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowStatus;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Request and response fields of the calls about runs. */
class RunFieldsTest {
  private static TestServer server;

  @BeforeAll
  static void startServer() {
    server = TestServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  private static String start(StartWorkflowRequest.Builder request) {
    return server.workflows().startWorkflow(request.build()).getRunId();
  }

  private static CancelWorkflowResponse cancel(String run) {
    return server
        .workflows()
        .cancelWorkflow(CancelWorkflowRequest.newBuilder().setRunId(run).build());
  }

  private static List<String> list(ListWorkflowsRequest.Builder request) {
    return server.workflows().listWorkflows(request.build()).getWorkflowsList().stream()
        .map(Workflow::getRunId)
        .toList();
  }

  @Test
  void runs_are_found_by_version_external_id_lineage_and_blockage() {
    String parent = start(TestServer.start("lists", "order").setVersion("7"));
    String named = start(TestServer.start("lists", "order").setExternalId("lists-1"));
    String inner =
        start(TestServer.start("lists", "order").setParentRunId(parent).setParentStepId("spawn"));
    String blocked = server.startRun("lists", "other");
    try (BatchWorker worker = new BatchWorker(server, "lists", "other")) {
      Task task = worker.poll(1).get(0);
      worker.report(
          item(task)
              .setReleased(
                  ReportItem.Released.newBuilder()
                      .setDelayMs(600_000)
                      .setBlockedBy(ErrorDetail.newBuilder().setMessage("step moved"))));
    }
    ListWorkflowsRequest.Builder all = ListWorkflowsRequest.newBuilder().setTaskQueue("lists");

    assertThat(list(all.clone())).containsExactly(blocked, inner, named, parent);
    assertThat(list(all.clone().setVersion("7"))).containsExactly(parent);
    assertThat(list(all.clone().setExternalId("lists-1"))).containsExactly(named);
    assertThat(list(all.clone().setTopLevel(true))).containsExactly(blocked, named, parent);
    assertThat(list(all.clone().setBlocked(true))).containsExactly(blocked);
    assertThat(server.run(parent).getVersion()).isEqualTo("7");
    assertThat(server.run(inner).getParentRunId()).isEqualTo(parent);
    assertThat(server.run(inner).getParentStepId()).isEqualTo("spawn");
    assertThat(server.run(inner).getDetached()).as("a cancel of the parent spares it").isTrue();
  }

  /** The stored reason is removed when the claim ends, not when it begins. */
  @Test
  void a_run_that_a_worker_continues_is_not_blocked() {
    String run = server.startRun("continued", "order");
    try (BatchWorker worker = new BatchWorker(server, "continued", "order")) {
      worker.report(
          item(worker.poll(1).get(0))
              .setReleased(
                  ReportItem.Released.newBuilder()
                      .setBlockedBy(ErrorDetail.newBuilder().setMessage("step moved"))));
      ListWorkflowsRequest.Builder blocked =
          ListWorkflowsRequest.newBuilder().setTaskQueue("continued").setBlocked(true);
      List<String> before = list(blocked.clone());

      Task again = worker.poll(1).get(0);

      assertThat(before).containsExactly(run);
      assertThat(list(blocked.clone())).isEmpty();
      worker.report(BatchWorker.done(again));
    }
  }

  @Test
  void headers_of_a_start_are_stored_and_sent_with_every_kind_of_task() {
    String batched = start(TestServer.start("headers", "order").putHeaders("tenant", "acme"));
    try (BatchWorker worker = new BatchWorker(server, "headers", "order")) {
      assertThat(worker.poll(1).get(0).getHeadersMap()).isEqualTo(Map.of("tenant", "acme"));
    }
    String bulk =
        server
            .workflows()
            .startWorkflows(
                StartWorkflowsRequest.newBuilder()
                    .addStarts(TestServer.start("bare", "order").putHeaders("tenant", "blue"))
                    .build())
            .getResults(0)
            .getStarted()
            .getRunId();
    String worker =
        server
            .workers()
            .register(
                RegisterRequest.newBuilder().setTaskQueue("bare").addWorkflowTypes("order").build())
            .getWorkerId();
    PollTaskResponse task =
        server
            .workers()
            .pollTask(
                PollTaskRequest.newBuilder()
                    .setWorkerId(worker)
                    .setTaskQueue("bare")
                    .addWorkflowTypes("order")
                    .build());

    assertThat(task.getRunId()).isEqualTo(bulk);
    assertThat(task.getHeadersMap()).isEqualTo(Map.of("tenant", "blue"));
    assertThat(server.run(batched).getHeadersMap()).isEqualTo(Map.of("tenant", "acme"));
    ErrorDetail refused =
        CallErrors.refused(
            Status.Code.INVALID_ARGUMENT,
            () ->
                server
                    .workflows()
                    .startWorkflow(
                        TestServer.start("headers", "order")
                            .putHeaders("not a name", "x")
                            .build()));
    assertThat(refused.getMessage())
        .isEqualTo(
            "headers name: not a name (expected: 1 to 100 of the characters a-z A-Z 0-9 . _ -)");
  }

  @Test
  void a_task_carries_the_options_of_its_start_and_a_poll_respects_type_limits() {
    String first =
        start(TestServer.start("tasks", "order").setVersion("7").setExternalId("tasks-1"));
    start(TestServer.start("tasks", "order").setVersion("7"));
    TypeVersion served = TypeVersion.newBuilder().setWorkflowType("order").setVersion("7").build();
    String worker =
        server
            .workers()
            .register(
                RegisterRequest.newBuilder()
                    .setTaskQueue("tasks")
                    .addWorkflowTypes("order")
                    .addServed(served)
                    .build())
            .getWorkerId();

    List<Task> tasks =
        server
            .workers()
            .pollTasks(
                PollTasksRequest.newBuilder()
                    .setWorkerId(worker)
                    .setTaskQueue("tasks")
                    .addTypes(served.toBuilder().setMaxTasks(1))
                    .setMaxTasks(10)
                    .build())
            .getTasksList();

    assertThat(tasks).hasSize(1);
    assertThat(tasks.get(0).getRunId()).isEqualTo(first);
    assertThat(tasks.get(0).getWorkflowType()).isEqualTo("order");
    assertThat(tasks.get(0).getVersion()).isEqualTo("7");
    assertThat(tasks.get(0).getExternalId()).isEqualTo("tasks-1");
  }

  @Test
  void a_start_that_finds_another_run_returns_its_type() {
    start(TestServer.start("types", "order").setExternalId("types-1"));

    StartWorkflowResponse second =
        server
            .workflows()
            .startWorkflow(TestServer.start("types", "other").setExternalId("types-1").build());

    assertThat(second.getAlreadyExists()).isTrue();
    assertThat(second.getWorkflowType()).isEqualTo("order");
  }

  @Test
  void a_cancel_reports_whether_it_took_effect_and_the_worker_is_notified() {
    String run = server.startRun("cancels", "order");
    try (BatchWorker worker = new BatchWorker(server, "cancels", "order")) {
      Task task = worker.poll(1).get(0);
      ClaimRef claim = ClaimRef.newBuilder().setRunId(run).setEpoch(task.getEpoch()).build();

      CancelWorkflowResponse first = cancel(run);
      CancelWorkflowResponse second = cancel(run);
      HeartbeatResponse beat =
          server
              .workers()
              .heartbeat(
                  HeartbeatRequest.newBuilder().setWorkerId(worker.id).addClaims(claim).build());

      assertThat(first.getCancelled()).isTrue();
      assertThat(first.getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_CANCELLED);
      assertThat(second).as("the same call again").isEqualTo(first);
      assertThat(beat.getCancelledList()).containsExactly(claim);

      String done = server.startRun("cancels", "order");
      worker.report(BatchWorker.done(worker.poll(1).get(0)));
      CancelWorkflowResponse late = cancel(done);
      assertThat(late.getCancelled()).isFalse();
      assertThat(late.getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_COMPLETED);
    }
  }

  @Test
  void a_retry_has_the_version_that_it_asks_for() {
    String run = start(TestServer.start("retries", "order").setVersion("1"));
    cancel(run);
    RetryWorkflowRequest.Builder retry = RetryWorkflowRequest.newBuilder().setRunId(run);

    String same = server.workflows().retryWorkflow(retry.clone().build()).getNewRunId();
    String other =
        server.workflows().retryWorkflow(retry.clone().setVersion("2").build()).getNewRunId();
    String none =
        server.workflows().retryWorkflow(retry.clone().setVersion("").build()).getNewRunId();

    assertThat(server.run(same).getVersion()).isEqualTo("1");
    assertThat(server.run(other).getVersion()).isEqualTo("2");
    assertThat(server.run(none).getVersion()).as("the type has no default").isEmpty();
    assertThat(server.run(other).getRetryOf()).isEqualTo(run);
    CallErrors.refused(
        Status.Code.INVALID_ARGUMENT,
        () -> server.workflows().retryWorkflow(retry.clone().setVersion("\u0000").build()));
  }

  @Test
  void a_terminated_run_is_resumed_by_force_and_a_repeated_call_returns_the_same() {
    String run = server.startRun("resumed", "order");
    server
        .workflows()
        .terminateWorkflow(
            TerminateWorkflowRequest.newBuilder().setRunId(run).setReason("stop").build());
    ResumeWorkflowRequest.Builder resume =
        ResumeWorkflowRequest.newBuilder().setRunId(run).setAttempt(1);

    CallErrors.refused(
        Status.Code.FAILED_PRECONDITION,
        () -> server.workflows().resumeWorkflow(resume.clone().build()));
    var first = server.workflows().resumeWorkflow(resume.clone().setForce(true).build());
    var again = server.workflows().resumeWorkflow(resume.clone().setForce(true).build());

    assertThat(first.getResumed()).isTrue();
    assertThat(first.getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_PENDING);
    assertThat(again).isEqualTo(first);
    assertThat(server.run(run).getAttempts()).isEqualTo(2);
  }

  @Test
  void a_run_counts_the_workers_that_died_with_it() {
    String run = server.startRun("crashes", "order");
    try (BatchWorker worker = new BatchWorker(server, "crashes", "order")) {
      worker.poll(1);
      server
          .admin()
          .forceOfflineWorker(
              ForceOfflineWorkerRequest.newBuilder().setWorkerId(worker.id).build());
    }

    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(server.run(run).getCrashes()).isEqualTo(1));
  }

  @Test
  void a_watch_returns_the_error_of_a_failed_run() throws Exception {
    String run = server.startRun("watched", "order");
    CompletableFuture<WorkflowEnd> end = new CompletableFuture<>();
    StreamObserver<WatchWorkflowsRequest> watch =
        WorkflowServiceGrpc.newStub(server.sharedChannel())
            .watchWorkflows(
                new StreamObserver<>() {
                  @Override
                  public void onNext(WatchWorkflowsResponse response) {
                    end.complete(response.getEnds(0));
                  }

                  @Override
                  public void onError(Throwable problem) {
                    end.completeExceptionally(problem);
                  }

                  @Override
                  public void onCompleted() {}
                });
    watch.onNext(WatchWorkflowsRequest.newBuilder().addWatchRunIds(run).build());
    try (BatchWorker worker = new BatchWorker(server, "watched", "order")) {
      worker.report(
          item(worker.poll(1).get(0))
              .setWorkflowFailed(
                  ReportItem.WorkflowFailed.newBuilder()
                      .setError(ErrorDetail.newBuilder().setMessage("no money"))));
    }

    assertThat(end.get(30, TimeUnit.SECONDS).getError().getMessage()).isEqualTo("no money");
    watch.onCompleted();
  }
}
