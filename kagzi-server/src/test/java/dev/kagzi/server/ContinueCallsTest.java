package dev.kagzi.server;

import static dev.kagzi.server.BatchWorker.done;
import static dev.kagzi.server.BatchWorker.item;
import static dev.kagzi.server.TestServer.payload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.AwaitWorkflowRequest;
import dev.kagzi.protocol.v1.AwaitWorkflowResponse;
import dev.kagzi.protocol.v1.CancelWorkflowRequest;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.ResumeWorkflowRequest;
import dev.kagzi.protocol.v1.RetryWorkflowRequest;
import dev.kagzi.protocol.v1.SignalWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.WatchWorkflowsRequest;
import dev.kagzi.protocol.v1.WatchWorkflowsResponse;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowEnd;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowStatus;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The report by which a run continues as new, and calls about chains, field by field. */
class ContinueCallsTest {
  private static TestServer server;

  @BeforeAll
  static void startServer() {
    server = TestServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  private static ReportItem.Builder next(Task task, String input) {
    return item(task)
        .setContinueAsNew(ReportItem.ContinueAsNew.newBuilder().setInput(payload(input)));
  }

  private static String continued(BatchWorker worker, ReportItem.Builder next) {
    ReportResult result = worker.report(next).get(0);
    assertThat(result.getAccepted().getStatus())
        .isEqualTo(WorkflowStatus.WORKFLOW_STATUS_COMPLETED);
    return result.getAccepted().getContinuedTo();
  }

  private static CompletableFuture<WorkflowEnd> watch(String run) {
    CompletableFuture<WorkflowEnd> end = new CompletableFuture<>();
    StreamObserver<WatchWorkflowsRequest> requests =
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
    requests.onNext(WatchWorkflowsRequest.newBuilder().addWatchRunIds(run).build());
    requests.onCompleted();
    return end;
  }

  private static AwaitWorkflowResponse await(String run, long waitMs) {
    return server
        .workflows()
        .awaitWorkflow(AwaitWorkflowRequest.newBuilder().setRunId(run).setWaitMs(waitMs).build());
  }

  @Test
  void a_run_continues_as_another_and_its_callers_follow() throws Exception {
    try (BatchWorker worker = new BatchWorker(server, "chains", "account")) {
      String run =
          server
              .workflows()
              .startWorkflow(
                  StartWorkflowRequest.newBuilder()
                      .setTaskQueue("chains")
                      .setWorkflowType("account")
                      .setExternalId("account-1")
                      .setInput(payload("1"))
                      .build())
              .getRunId();
      CompletableFuture<WorkflowEnd> watched = watch(run);
      String second = continued(worker, next(worker.poll(1).get(0), "2"));
      Task task = worker.poll(1).get(0);

      AwaitWorkflowResponse waiting = await(run, 1);
      assertThat(waiting.getFinished()).isFalse();
      assertThat(waiting.getWorkflow().getRunId()).isEqualTo(second);
      assertThat(task.getExternalId()).isEqualTo("account-1");
      assertThat(task.getInput()).isEqualTo(payload("2"));
      String third = continued(worker, next(task, "3"));
      worker.report(done(worker.poll(1).get(0)));

      WorkflowEnd end = watched.get(10, TimeUnit.SECONDS);
      assertThat(end.getRunId()).isEqualTo(run);
      assertThat(end.getLastRunId()).isEqualTo(third);
      assertThat(end.getOutput()).isEqualTo(payload("1"));
      assertThat(watch(third).get(10, TimeUnit.SECONDS).getLastRunId()).isEmpty();
      AwaitWorkflowResponse awaited = await(run, 0);
      assertThat(awaited.getFinished()).isTrue();
      assertThat(awaited.getWorkflow().getRunId()).isEqualTo(third);
      assertThat(awaited.getWorkflow().getOutput()).isEqualTo(payload("1"));
      Workflow first = server.run(run);
      assertThat(first.getContinuedTo()).isEqualTo(second);
      assertThat(first.hasContinuedFrom()).isFalse();
      assertThat(first.hasFirstRunId()).isFalse();
      Workflow last = server.run(third);
      assertThat(last.hasContinuedTo()).isFalse();
      assertThat(last.getContinuedFrom()).isEqualTo(second);
      assertThat(last.getFirstRunId()).isEqualTo(run);
    }
  }

  @Test
  void a_refusal_is_recorded_as_the_step_of_the_call() {
    try (BatchWorker worker = new BatchWorker(server, "chain refusals", "account")) {
      server.startRun("chain refusals", "account");
      Task task = worker.poll(1).get(0);
      ReportItem.ChildStarted child =
          ReportItem.ChildStarted.newBuilder()
              .setStepKey("pack")
              .setAttempt(1)
              .setStart(
                  StartWorkflowRequest.newBuilder().setWorkflowType("other").setInput(payload("1")))
              .build();
      ReportItem.Builder next = next(task, "2");
      next.getContinueAsNewBuilder().setStepKey("continue-as-new");

      ReportResult refused = worker.report(item(task).setChildStarted(child), next).get(1);

      assertThat(refused.getRefused().getMetadataMap()).containsEntry("code", "OPEN_STEPS");
      worker.report(item(task).setReleased(ReportItem.Released.getDefaultInstance()));
      assertThat(worker.poll(1).get(0).getStepsList())
          .filteredOn(step -> step.getStepKey().equals("continue-as-new"))
          .singleElement()
          .satisfies(
              step -> {
                assertThat(step.getFinalFailure().getMessage())
                    .isEqualTo(refused.getRefused().getMessage());
                assertThat(step.getFinalFailure().getMetadataMap())
                    .containsEntry("code", "OPEN_STEPS");
              });
    }
  }

  @Test
  void a_version_is_that_of_the_run_unless_the_report_has_one() {
    try (BatchWorker worker = new BatchWorker(server, "chain versions", "account")) {
      server.startRun("chain versions", "account");
      Task task = worker.poll(1).get(0);
      ReportItem.Builder next = next(task, "2");
      next.getContinueAsNewBuilder().setVersion("v2").setOpenSteps(true);

      assertThat(server.run(continued(worker, next)).getVersion()).isEqualTo("v2");
    }
  }

  @Test
  void calls_about_a_run_that_has_continued_reach_the_last_one_or_name_it() {
    try (BatchWorker worker = new BatchWorker(server, "chain calls", "account")) {
      String run = server.startRun("chain calls", "account");
      String second = continued(worker, next(worker.poll(1).get(0), "2"));

      assertThat(
              CallErrors.refused(
                      Status.Code.FAILED_PRECONDITION,
                      () ->
                          server
                              .workflows()
                              .retryWorkflow(
                                  RetryWorkflowRequest.newBuilder().setRunId(run).build()))
                  .getMessage())
          .contains("has continued as run " + second);
      assertThat(
              CallErrors.refused(
                      Status.Code.FAILED_PRECONDITION,
                      () ->
                          server
                              .workflows()
                              .resumeWorkflow(
                                  ResumeWorkflowRequest.newBuilder().setRunId(run).build()))
                  .getMessage())
          .contains(second);
      var unused =
          server
              .workflows()
              .signalWorkflow(
                  SignalWorkflowRequest.newBuilder()
                      .setRunId(run)
                      .setName("deposit")
                      .setPayload(payload("1"))
                      .build());
      assertThat(server.run(second).getBufferedSignals()).isEqualTo(1);
      assertThat(
              server
                  .workflows()
                  .cancelWorkflow(CancelWorkflowRequest.newBuilder().setRunId(run).build())
                  .getCancelled())
          .isTrue();
      assertThat(server.run(second).getStatus())
          .isEqualTo(WorkflowStatus.WORKFLOW_STATUS_CANCELLED);
    }
  }

  @Test
  void the_page_of_a_run_links_to_the_runs_around_it() throws Exception {
    try (BatchWorker worker = new BatchWorker(server, "chain pages", "account")) {
      String first = server.startRun("chain pages", "account");
      String second = continued(worker, next(worker.poll(1).get(0), "2"));
      String third = continued(worker, next(worker.poll(1).get(0), "3"));

      assertThat(page(first))
          .contains("Continued as", "/runs/" + second)
          .doesNotContain("Continues</dt>", "Retry…");
      assertThat(page(second)).contains("/runs/" + first, "/runs/" + third);
      assertThat(page(third))
          .contains("Continues</dt>", "/runs/" + second, "/runs/" + first)
          .doesNotContain("Continued as");
    }
  }

  private static String page(String run) throws Exception {
    URI page = URI.create("http://127.0.0.1:" + server.server().httpPort() + "/runs/" + run);
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(HttpRequest.newBuilder(page).build(), BodyHandlers.ofString()).body();
    }
  }

  @Test
  void an_open_child_refuses_with_its_step() {
    try (BatchWorker worker = new BatchWorker(server, "chain children", "account")) {
      server.startRun("chain children", "account");
      Task task = worker.poll(1).get(0);
      ReportItem.Builder child =
          item(task)
              .setChildStarted(
                  ReportItem.ChildStarted.newBuilder()
                      .setStepKey("pack")
                      .setAttempt(1)
                      .setStart(StartWorkflowRequest.newBuilder().setWorkflowType("account")));

      ReportResult refused = worker.report(child, next(task, "2")).get(1);

      assertThat(refused.getRefused().getMetadataOrThrow("code")).isEqualTo("OPEN_STEPS");
      assertThat(refused.getRefused().getMessage())
          .contains("while these steps are open: pack (expected");
    }
  }
}
