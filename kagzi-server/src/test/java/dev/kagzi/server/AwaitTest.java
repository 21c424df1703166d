package dev.kagzi.server;

import static dev.kagzi.server.TestServer.payload;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.ListenableFuture;
import dev.kagzi.protocol.v1.AwaitWorkflowRequest;
import dev.kagzi.protocol.v1.AwaitWorkflowResponse;
import dev.kagzi.protocol.v1.CancelWorkflowRequest;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowStatus;
import io.grpc.Status;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class AwaitTest {
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
  void an_await_ends_with_the_run() throws Exception {
    String runId = server.startRun("await", "order");
    ListenableFuture<AwaitWorkflowResponse> end =
        WorkflowServiceGrpc.newFutureStub(server.sharedChannel()).awaitWorkflow(await(runId, 0));

    try (BareWorker worker = new BareWorker(server, "await", "h", 1, "order")) {
      worker.poll();
      worker.complete(runId, payload("\"done\""));
    }
    AwaitWorkflowResponse response = end.get(5, TimeUnit.SECONDS);

    assertThat(response.getFinished()).isTrue();
    assertThat(response.getWorkflow().getStatus())
        .isEqualTo(WorkflowStatus.WORKFLOW_STATUS_COMPLETED);
    assertThat(response.getWorkflow().getOutput()).isEqualTo(payload("\"done\""));
  }

  @Test
  void an_await_of_an_ended_run_is_answered_at_once() {
    String runId = server.startRun("nobody", "order");
    server.workflows().cancelWorkflow(CancelWorkflowRequest.newBuilder().setRunId(runId).build());

    AwaitWorkflowResponse response = server.workflows().awaitWorkflow(await(runId, 0));

    assertThat(response.getFinished()).isTrue();
    assertThat(response.getWorkflow().getStatus())
        .isEqualTo(WorkflowStatus.WORKFLOW_STATUS_CANCELLED);
  }

  @Test
  void an_await_that_takes_too_long_shows_the_run_as_it_is() {
    String runId = server.startRun("nobody", "order");

    AwaitWorkflowResponse response = server.workflows().awaitWorkflow(await(runId, 100));

    assertThat(response.getFinished()).isFalse();
    assertThat(response.getWorkflow().getRunId()).isEqualTo(runId);
    assertThat(response.getWorkflow().getStatus())
        .isEqualTo(WorkflowStatus.WORKFLOW_STATUS_PENDING);
  }

  @Test
  void an_await_of_an_unknown_run_is_not_found() {
    CallErrors.refused(
        Status.Code.NOT_FOUND,
        () -> server.workflows().awaitWorkflow(await(UUID.randomUUID().toString(), 0)));
  }

  private static AwaitWorkflowRequest await(String runId, long waitMs) {
    return AwaitWorkflowRequest.newBuilder().setRunId(runId).setWaitMs(waitMs).build();
  }
}
