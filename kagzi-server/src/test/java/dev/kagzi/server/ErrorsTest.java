package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Duration;
import dev.kagzi.protocol.v1.BeginStepRequest;
import dev.kagzi.protocol.v1.CompleteStepRequest;
import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.GetNamespaceRequest;
import dev.kagzi.protocol.v1.GetWorkflowRequest;
import dev.kagzi.protocol.v1.HeartbeatRequest;
import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.PollTaskRequest;
import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.protocol.v1.RetryPolicy;
import dev.kagzi.protocol.v1.SleepRequest;
import dev.kagzi.protocol.v1.WorkflowTypeConcurrency;
import io.grpc.Status;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The errors that callers get. */
class ErrorsTest {
  private static final String UNKNOWN_ID = UUID.randomUUID().toString();

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
  void an_unknown_run_is_not_found_and_the_detail_names_it() {
    ErrorDetail detail = CallErrors.refused(Status.Code.NOT_FOUND, () -> server.run(UNKNOWN_ID));

    assertThat(detail.getCode()).isEqualTo(ErrorCode.ERROR_CODE_NOT_FOUND);
    assertThat(detail.getMessage()).contains(UNKNOWN_ID);
    assertThat(detail.getSubjectId()).isEqualTo(UNKNOWN_ID);
    assertThat(detail.getNonRetryable()).isTrue();
    assertThat(detail.getMetadataMap()).containsEntry("status", "NOT_FOUND");
  }

  @Test
  void an_unknown_worker_cannot_poll() {
    ErrorDetail detail =
        CallErrors.refused(
            Status.Code.FAILED_PRECONDITION,
            () ->
                server
                    .workers()
                    .pollTask(
                        PollTaskRequest.newBuilder()
                            .setWorkerId(UNKNOWN_ID)
                            .setTaskQueue("q")
                            .addWorkflowTypes("t")
                            .build()));

    assertThat(detail.getCode()).isEqualTo(ErrorCode.ERROR_CODE_PRECONDITION_FAILED);
    assertThat(detail.getMessage()).contains(UNKNOWN_ID);
  }

  @Test
  void a_heartbeat_of_an_unknown_worker_is_not_found() {
    ErrorDetail detail =
        CallErrors.refused(
            Status.Code.NOT_FOUND,
            () ->
                server
                    .workers()
                    .heartbeat(HeartbeatRequest.newBuilder().setWorkerId(UNKNOWN_ID).build()));

    assertThat(detail.getMessage()).contains(UNKNOWN_ID);
  }

  @Test
  void an_unknown_namespace_is_not_found() {
    CallErrors.refused(
        Status.Code.NOT_FOUND,
        () ->
            server
                .namespaces()
                .getNamespace(GetNamespaceRequest.newBuilder().setNamespace("nowhere").build()));
    CallErrors.refused(
        Status.Code.NOT_FOUND,
        () ->
            server
                .workflows()
                .startWorkflow(TestServer.start("q", "t").setNamespace("nowhere").build()));
  }

  @Test
  void an_input_over_the_limit_is_refused_with_the_value_and_the_limit() {
    Payload large = Payload.newBuilder().setData(ByteString.copyFrom(new byte[3 << 20])).build();

    ErrorDetail detail =
        CallErrors.refused(
            Status.Code.INVALID_ARGUMENT,
            () ->
                server
                    .workflows()
                    .startWorkflow(TestServer.start("q", "large").setInput(large).build()));

    assertThat(detail.getMessage()).contains("3145728").contains("2097152");
  }

  @Test
  void an_output_over_the_limit_is_refused_from_a_client_that_knows_no_epochs() {
    String runId = server.startRun("large", "order");
    Payload large = Payload.newBuilder().setData(ByteString.copyFrom(new byte[3 << 20])).build();

    try (BareWorker worker = new BareWorker(server, "large", "h", 1, "order")) {
      assertThat(worker.poll().getRunId()).isEqualTo(runId);
      ErrorDetail detail =
          CallErrors.refused(Status.Code.INVALID_ARGUMENT, () -> worker.complete(runId, large));

      assertThat(detail.getMessage()).contains("output").contains("2097152");
    }
  }

  @Test
  void a_message_over_the_limit_of_the_wire_is_refused() {
    Payload large = Payload.newBuilder().setData(ByteString.copyFrom(new byte[9 << 20])).build();

    assertThat(
            org.assertj.core.api.Assertions.catchThrowableOfType(
                io.grpc.StatusRuntimeException.class,
                () ->
                    server
                        .workflows()
                        .startWorkflow(TestServer.start("q", "large").setInput(large).build())))
        .extracting(error -> error.getStatus().getCode())
        .isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
  }

  private static final String RESERVED = "__kagzi_failure_handler";

  static Stream<Arguments> wrongRequests() {
    return Stream.of(
        wrong("run_id", () -> server.run("no-id")),
        wrong("run_id", () -> server.run("")),
        wrong("worker_id", () -> server.workers().heartbeat(HeartbeatRequest.newBuilder().build())),
        wrong("task_queue", () -> server.startRun("", "t")),
        wrong("workflow_type", () -> server.startRun("q", "")),
        wrong("workflow_type", () -> server.startRun("q", "a\u0000b")),
        wrong("task_queue", () -> server.startRun("q".repeat(1_000), "t")),
        wrong(
            "backoff_coefficient",
            () -> start(RetryPolicy.newBuilder().setBackoffCoefficient(Double.NaN))),
        wrong("jitter", () -> start(RetryPolicy.newBuilder().setJitter(Double.NaN))),
        wrong("maximum_attempts", () -> start(RetryPolicy.newBuilder().setMaximumAttempts(-2))),
        wrong(
            "initial_interval_ms", () -> start(RetryPolicy.newBuilder().setInitialIntervalMs(-1))),
        wrong(
            "non_retryable_errors",
            () ->
                start(
                    RetryPolicy.newBuilder().addNonRetryableErrors("x").addNonRetryableErrors(""))),
        wrong(
            "retryable_kinds", () -> start(RetryPolicy.newBuilder().addRetryableKinds("WEATHER"))),
        wrong("retryable_kinds", () -> start(RetryPolicy.newBuilder().addRetryableKinds(""))),
        wrong("workflow_type", () -> server.startRun("q", RESERVED)),
        wrong(
            "on_failure_workflow",
            () ->
                server
                    .workflows()
                    .startWorkflow(
                        TestServer.start("q", "t").setOnFailureWorkflow(RESERVED).build())),
        wrong("page_size", () -> list(PageRequest.newBuilder().setPageSize(-1))),
        wrong("page_token", () -> list(PageRequest.newBuilder().setPageToken("rubbish"))),
        wrong(
            "status_filter",
            () ->
                server
                    .workflows()
                    .listWorkflows(
                        ListWorkflowsRequest.newBuilder().setStatusFilterValue(77).build())),
        wrong(
            "kind",
            () ->
                server
                    .workers()
                    .beginStep(
                        BeginStepRequest.newBuilder()
                            .setRunId(UNKNOWN_ID)
                            .setStepName("s")
                            .setKindValue(77)
                            .build())),
        wrong(
            "step_id",
            () ->
                server
                    .workers()
                    .completeStep(
                        CompleteStepRequest.newBuilder()
                            .setRunId(UNKNOWN_ID)
                            .setStepId(UUID.randomUUID() + "/s@1.1")
                            .build())),
        wrong(
            "step_id",
            () ->
                server
                    .workers()
                    .completeStep(
                        CompleteStepRequest.newBuilder()
                            .setRunId(UNKNOWN_ID)
                            .setStepId(UNKNOWN_ID + "/s@1.0")
                            .build())),
        wrong(
            "workflow_type",
            () ->
                server
                    .workers()
                    .pollTask(
                        PollTaskRequest.newBuilder()
                            .setWorkerId(UNKNOWN_ID)
                            .setTaskQueue("q")
                            .addWorkflowTypes("a\u0000b")
                            .build())),
        wrong(
            "duration",
            () ->
                server
                    .workers()
                    .sleep(
                        SleepRequest.newBuilder()
                            .setRunId(UNKNOWN_ID)
                            .setStepId(UNKNOWN_ID + "/s@1.1")
                            .setDuration(Duration.newBuilder().setSeconds(-1))
                            .build())),
        wrong(
            "duration",
            () ->
                server
                    .workers()
                    .sleep(
                        SleepRequest.newBuilder()
                            .setRunId(UNKNOWN_ID)
                            .setStepId(UNKNOWN_ID + "/s@1.1")
                            .build())),
        wrong(
            "max_concurrent",
            () ->
                server
                    .workers()
                    .register(
                        RegisterRequest.newBuilder()
                            .setTaskQueue("q")
                            .addWorkflowTypes("t")
                            .addWorkflowTypeConcurrency(
                                WorkflowTypeConcurrency.newBuilder().setWorkflowType("t"))
                            .build())),
        wrong(
            "workflow_types",
            () ->
                server.workers().register(RegisterRequest.newBuilder().setTaskQueue("q").build())));
  }

  @ParameterizedTest
  @MethodSource("wrongRequests")
  void a_wrong_request_is_refused_and_the_message_names_the_field(String field, Runnable call) {
    ErrorDetail detail = CallErrors.refused(Status.Code.INVALID_ARGUMENT, call::run);

    assertThat(detail.getCode()).isEqualTo(ErrorCode.ERROR_CODE_INVALID_ARGUMENT);
    assertThat(detail.getMessage()).contains(field).contains("expected");
  }

  private static Arguments wrong(String field, Runnable call) {
    return Arguments.of(field, call);
  }

  private static void start(RetryPolicy.Builder policy) {
    server.workflows().startWorkflow(TestServer.start("q", "t").setRetryPolicy(policy).build());
  }

  private static void list(PageRequest.Builder page) {
    server.workflows().listWorkflows(ListWorkflowsRequest.newBuilder().setPage(page).build());
  }

  @Test
  void a_run_of_another_namespace_is_not_found() {
    server
        .namespaces()
        .createNamespace(
            dev.kagzi.protocol.v1.CreateNamespaceRequest.newBuilder()
                .setNamespace("other")
                .build());
    String runId = server.startRun("q", "mine");

    CallErrors.refused(
        Status.Code.NOT_FOUND,
        () ->
            server
                .workflows()
                .getWorkflow(
                    GetWorkflowRequest.newBuilder().setNamespace("other").setRunId(runId).build()));
  }
}
