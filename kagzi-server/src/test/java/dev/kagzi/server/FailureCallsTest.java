package dev.kagzi.server;

import static dev.kagzi.server.BatchWorker.done;
import static dev.kagzi.server.BatchWorker.item;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Timestamp;
import dev.kagzi.protocol.v1.BeginStepRequest;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.GetNamespaceRequest;
import dev.kagzi.protocol.v1.GetWorkflowRequest;
import dev.kagzi.protocol.v1.IdConflictPolicy;
import dev.kagzi.protocol.v1.Namespace;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.ResumeWorkflowRequest;
import dev.kagzi.protocol.v1.ResumeWorkflowResponse;
import dev.kagzi.protocol.v1.RetryPolicy;
import dev.kagzi.protocol.v1.RetryWorkflowRequest;
import dev.kagzi.protocol.v1.RetryWorkflowResponse;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.TerminateWorkflowRequest;
import dev.kagzi.protocol.v1.TerminateWorkflowResponse;
import dev.kagzi.protocol.v1.UpdateNamespaceRequest;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowStatus;
import io.grpc.Status;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Requests and responses of the calls about failures. */
class FailureCallsTest {
  private static TestServer server;

  @BeforeAll
  static void startServer() {
    server = TestServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  private static Workflow get(String run) {
    return server
        .workflows()
        .getWorkflow(GetWorkflowRequest.newBuilder().setRunId(run).build())
        .getWorkflow();
  }

  private static String start(StartWorkflowRequest.Builder request) {
    return server.workflows().startWorkflow(request.build()).getRunId();
  }

  private static ReportItem.Builder failed(Task task, String message) {
    return item(task)
        .setWorkflowFailed(
            ReportItem.WorkflowFailed.newBuilder()
                .setError(ErrorDetail.newBuilder().setMessage(message)));
  }

  private static void fail(String queue, String message) {
    try (BatchWorker worker = new BatchWorker(server, queue, "order")) {
      ReportResult result = worker.report(failed(worker.poll(1).get(0), message)).get(0);
      assertThat(result.getAccepted().getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_FAILED);
    }
  }

  @Test
  void a_run_shows_the_options_of_its_start() {
    Instant deadline = Instant.now().plusSeconds(600);
    RetryPolicy policy =
        RetryPolicy.newBuilder()
            .setMaximumAttempts(4)
            .setInitialIntervalMs(10)
            .setBackoffCoefficient(3)
            .setMaximumIntervalMs(20)
            .setJitter(0.5)
            .addNonRetryableErrors("java.io.IOException")
            .addRetryableKinds("NETWORK")
            .build();
    String run =
        start(
            TestServer.start("shown", "order")
                .setRetryPolicy(policy)
                .setExecutionTimeoutMs(3_600_000)
                .setDeadline(Timestamp.newBuilder().setSeconds(deadline.getEpochSecond()))
                .setStepTimeoutMs(5_000)
                .setHeartbeatTimeoutMs(9_000)
                .setOnFailureWorkflow("cleanup")
                .setOnFailureTaskQueue("repairs"));

    Workflow shown = get(run);

    assertThat(shown.getRetryPolicy()).isEqualTo(policy);
    assertThat(shown.getDeadlineAt().getSeconds()).isEqualTo(deadline.getEpochSecond());
    assertThat(shown.getExecutionTimeoutMs()).isEqualTo(3_600_000);
    assertThat(shown.getTimeoutMs()).isEqualTo(shown.getExecutionTimeoutMs());
    assertThat(shown.getStepTimeoutMs()).isEqualTo(5_000);
    assertThat(shown.getHeartbeatTimeoutMs()).isEqualTo(9_000);
    assertThat(shown.getOnFailureWorkflow()).isEqualTo("cleanup");
    assertThat(shown.getOnFailureTaskQueue()).isEqualTo("repairs");
    try (BatchWorker worker = new BatchWorker(server, "shown", "order")) {
      Task task = worker.poll(1).get(0);
      assertThat(task.getStepTimeoutMs()).isEqualTo(5_000);
      assertThat(task.getDeadlineInMs()).isBetween(500_000L, 600_000L);
    }
  }

  @Test
  void a_deadline_alone_is_shown_as_a_deadline_and_nothing_else() {
    Timestamp deadline =
        Timestamp.newBuilder().setSeconds(Instant.now().getEpochSecond() + 600).build();

    Workflow shown = get(start(TestServer.start("deadline", "order").setDeadline(deadline)));

    assertThat(shown.getDeadlineAt()).isEqualTo(deadline);
    assertThat(shown.hasExecutionTimeoutMs()).isFalse();
    assertThat(shown.hasTimeoutMs()).isFalse();
  }

  @Test
  void a_run_is_terminated_once() {
    String run = server.startRun("terminated", "order");
    TerminateWorkflowRequest request =
        TerminateWorkflowRequest.newBuilder().setRunId(run).setReason("enough").build();

    TerminateWorkflowResponse first = server.workflows().terminateWorkflow(request);
    TerminateWorkflowResponse second = server.workflows().terminateWorkflow(request);

    assertThat(first.getTerminated()).isTrue();
    assertThat(first.getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_FAILED);
    assertThat(second).isEqualTo(first);
    assertThat(get(run).getError().getMessage()).isEqualTo("terminated: enough");
  }

  @Test
  void a_run_that_failed_is_resumed_in_place() {
    String run = server.startRun("resumed", "order");
    fail("resumed", "no");
    ResumeWorkflowRequest request = ResumeWorkflowRequest.newBuilder().setRunId(run).build();

    ResumeWorkflowResponse first = server.workflows().resumeWorkflow(request);
    ResumeWorkflowResponse second = server.workflows().resumeWorkflow(request);

    assertThat(first.getResumed()).isTrue();
    assertThat(first.getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_PENDING);
    assertThat(second.getResumed()).isFalse();
    try (BatchWorker worker = new BatchWorker(server, "resumed", "order")) {
      Task task = worker.poll(1).get(0);
      assertThat(task.getRunId()).isEqualTo(run);
      assertThat(task.getAttempt()).isEqualTo(2);
      worker.report(done(task));
    }
    assertThat(get(run).getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_COMPLETED);
    assertThat(get(run).hasError()).isFalse();
  }

  @Test
  void a_run_that_has_ended_is_repeated_as_a_new_one() {
    String run = server.startRun("repeated", "order");
    fail("repeated", "no");
    String chosen = UUID.randomUUID().toString();
    RetryWorkflowRequest request =
        RetryWorkflowRequest.newBuilder().setRunId(run).setNewRunId(chosen).build();

    RetryWorkflowResponse first = server.workflows().retryWorkflow(request);
    RetryWorkflowResponse again = server.workflows().retryWorkflow(request);

    assertThat(first.getNewRunId()).isEqualTo(chosen);
    assertThat(first.getAlreadyRunning()).isFalse();
    assertThat(again).isEqualTo(first);
    assertThat(get(chosen).getRetryOf()).isEqualTo(run);
    assertThat(get(chosen).getInput()).isEqualTo(get(run).getInput());
  }

  @Test
  void an_unknown_run_cannot_be_ended_nor_resumed() {
    String unknownRun = UUID.randomUUID().toString();

    CallErrors.refused(
        Status.Code.NOT_FOUND,
        () ->
            server
                .workflows()
                .terminateWorkflow(
                    TerminateWorkflowRequest.newBuilder().setRunId(unknownRun).build()));
    CallErrors.refused(
        Status.Code.NOT_FOUND,
        () ->
            server
                .workflows()
                .resumeWorkflow(ResumeWorkflowRequest.newBuilder().setRunId(unknownRun).build()));
    CallErrors.refused(
        Status.Code.NOT_FOUND,
        () ->
            server
                .workflows()
                .retryWorkflow(RetryWorkflowRequest.newBuilder().setRunId(unknownRun).build()));
  }

  @Test
  void a_start_with_the_reject_policy_is_refused_with_the_existing_run() {
    StartWorkflowRequest.Builder request =
        TestServer.start("rejected", "order")
            .setExternalId("rejected-1")
            .setIdConflictPolicy(IdConflictPolicy.ID_CONFLICT_POLICY_REJECT);
    String run = start(request.clone());

    ErrorDetail detail =
        CallErrors.refused(Status.Code.ALREADY_EXISTS, () -> start(request.clone()));

    assertThat(detail.getSubjectId()).isEqualTo(run);
  }

  @Test
  void a_handler_is_found_from_the_failed_run_and_the_failed_run_from_its_handler() {
    String run =
        start(TestServer.start("handled", "order").setOnFailureWorkflow("cleanup-handled"));
    fail("handled", "no stock");

    Workflow failed = get(run);
    Workflow handler = get(failed.getFailureHandlerRunId());

    assertThat(handler.getFailedRunId()).isEqualTo(run);
    assertThat(handler.getWorkflowType()).isEqualTo("cleanup-handled");
    assertThat(handler.getTaskQueue()).isEqualTo("handled");
    assertThat(handler.getInput().getMetadataMap()).containsEntry("event", "kagzi/workflow.failed");
    assertThat(handler.getInput().getData().toStringUtf8()).contains("no stock").contains(run);
  }

  @Test
  void a_namespace_shows_where_all_failures_are_handled_until_that_is_cleared() {
    try (BatchWorker worker = new BatchWorker(server, "system", "__kagzi_failure_handler")) {
      assertThat(worker.heartbeat()).isTrue();
      assertThat(namespace().getFailureHandlerTaskQueue()).isEqualTo("system");
    }
    assertThat(namespace().getFailureHandlerTaskQueue()).isEqualTo("system");

    var unused =
        server
            .namespaces()
            .updateNamespace(
                UpdateNamespaceRequest.newBuilder()
                    .setNamespace("default")
                    .setClearFailureHandler(true)
                    .build());

    assertThat(namespace().getFailureHandlerTaskQueue()).isEmpty();
  }

  private static Namespace namespace() {
    return server
        .namespaces()
        .getNamespace(GetNamespaceRequest.newBuilder().setNamespace("default").build())
        .getNamespace();
  }

  @Test
  void a_stored_error_is_bounded_and_free_of_control_characters() {
    String run = server.startRun("errors", "order");
    try (BatchWorker worker = new BatchWorker(server, "errors", "order")) {
      ErrorDetail error =
          ErrorDetail.newBuilder()
              .setMessage("bell\u0007 and \u001b[31mred\n" + "x".repeat(20_000))
              .putMetadata("stack", "at a\n\tat b\u0000\n" + "y".repeat(50_000))
              .build();
      worker.report(
          item(worker.poll(1).get(0))
              .setWorkflowFailed(ReportItem.WorkflowFailed.newBuilder().setError(error)));
    }

    ErrorDetail stored = get(run).getError();
    assertThat(stored.getMessage()).startsWith("bell and [31mred\nxxx").endsWith("...");
    assertThat(stored.getMessage()).hasSizeLessThan(8_200);
    assertThat(stored.getMetadataOrThrow("stack")).startsWith("at a\n\tat b\nyyy");
    assertThat(stored.getMetadataOrThrow("stack")).hasSizeLessThan(33_000);
  }

  @Test
  void a_negative_time_out_is_refused_by_its_name() {
    ErrorDetail detail =
        CallErrors.refused(
            Status.Code.INVALID_ARGUMENT,
            () ->
                server
                    .workers()
                    .beginStep(
                        BeginStepRequest.newBuilder()
                            .setRunId(UUID.randomUUID().toString())
                            .setStepName("step")
                            .setStartToCloseTimeoutMs(-1)
                            .build()));

    assertThat(detail.getMessage()).contains("start_to_close_timeout_ms");
  }
}
