package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.ExplainWorkflowRequest;
import dev.kagzi.protocol.v1.ExplainWorkflowResponse;
import dev.kagzi.protocol.v1.GetPublishedRequest;
import dev.kagzi.protocol.v1.GetPublishedResponse;
import dev.kagzi.protocol.v1.GetWorkflowRequest;
import dev.kagzi.protocol.v1.GetWorkflowResponse;
import dev.kagzi.protocol.v1.ListStepsRequest;
import dev.kagzi.protocol.v1.ListStepsResponse;
import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.ListWorkflowsResponse;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowStatus;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

/** A run of which not everything can be read. */
class WorkflowGetTest {
  private static final String RUN = "01890a5d-ac96-774b-bcce-b302099a8057";

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  /** A server with a fault: it answers all calls about the run, except those that explain it. */
  private static final class Runs extends WorkflowServiceGrpc.WorkflowServiceImplBase {

    @Override
    public void getWorkflow(
        GetWorkflowRequest request, StreamObserver<GetWorkflowResponse> caller) {
      Workflow run =
          Workflow.newBuilder()
              .setRunId(RUN)
              .setWorkflowType("order")
              .setStatus(WorkflowStatus.WORKFLOW_STATUS_PENDING)
              .build();
      caller.onNext(GetWorkflowResponse.newBuilder().setWorkflow(run).build());
      caller.onCompleted();
    }

    @Override
    public void getPublished(
        GetPublishedRequest request, StreamObserver<GetPublishedResponse> caller) {
      caller.onNext(GetPublishedResponse.getDefaultInstance());
      caller.onCompleted();
    }

    @Override
    public void explainWorkflow(
        ExplainWorkflowRequest request, StreamObserver<ExplainWorkflowResponse> caller) {
      caller.onError(Status.INTERNAL.withDescription("a fault of the server").asRuntimeException());
    }

    @Override
    public void listWorkflows(
        ListWorkflowsRequest request, StreamObserver<ListWorkflowsResponse> caller) {
      caller.onNext(ListWorkflowsResponse.getDefaultInstance());
      caller.onCompleted();
    }
  }

  private static final class Steps extends AdminServiceGrpc.AdminServiceImplBase {

    @Override
    public void listSteps(ListStepsRequest request, StreamObserver<ListStepsResponse> caller) {
      caller.onNext(ListStepsResponse.getDefaultInstance());
      caller.onCompleted();
    }
  }

  @Test
  void a_run_is_shown_although_it_cannot_be_explained() throws IOException {
    Server server =
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .addService(new Runs())
            .addService(new Steps())
            .build()
            .start();
    try {
      int exitCode =
          Main.commandLine()
              .setOut(new PrintWriter(out))
              .setErr(new PrintWriter(err))
              .execute("workflow", "get", RUN, "--address", "127.0.0.1:" + server.getPort());

      assertThat(exitCode).as("%s", err).isZero();
      assertThat(out.toString()).contains(RUN, "PENDING").doesNotContain("why");
      assertThat(err.toString().strip())
          .isEqualTo(
              "kagzi: why the run does not continue could not be read: a fault of the server");
    } finally {
      server.shutdownNow();
    }
  }
}
