package dev.kagzi.server;

import static dev.kagzi.server.TestServer.payload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.Duration;
import dev.kagzi.protocol.v1.BeginStepRequest;
import dev.kagzi.protocol.v1.CompleteStepRequest;
import dev.kagzi.protocol.v1.CompleteStepResponse;
import dev.kagzi.protocol.v1.CompleteWorkflowRequest;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.FailStepRequest;
import dev.kagzi.protocol.v1.FailWorkflowRequest;
import dev.kagzi.protocol.v1.PollTaskRequest;
import dev.kagzi.protocol.v1.PollTaskResponse;
import dev.kagzi.protocol.v1.SleepRequest;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.StepStatus;
import dev.kagzi.protocol.v1.WorkerServiceGrpc.WorkerServiceBlockingStub;
import dev.kagzi.protocol.v1.WorkflowStatus;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A simple client that sends the epoch is refused as soon as another worker holds the claim. */
class EpochCallsTest {
  private static TestServer server;

  @BeforeAll
  static void startServer() {
    server = TestServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  private static WorkerServiceBlockingStub workers() {
    return server.workers();
  }

  private static PollTaskResponse poll(BatchWorker worker, String queue) {
    return workers()
        .pollTask(
            PollTaskRequest.newBuilder()
                .setWorkerId(worker.id)
                .setTaskQueue(queue)
                .addWorkflowTypes("order")
                .build());
  }

  /** A step id contains its epoch; the request's epoch differs from it. */
  private static void disagrees(ThrowingCallable call) {
    assertThat(CallErrors.refused(Status.Code.INVALID_ARGUMENT, call).getMessage())
        .startsWith("epoch: 2");
  }

  private static void refused(ThrowingCallable call) {
    StatusRuntimeException error = catchThrowableOfType(StatusRuntimeException.class, call);
    assertThat(error).as("a call of a claim that is not the present one").isNotNull();
    assertThat(error.getStatus().getCode())
        .isIn(Status.Code.ABORTED, Status.Code.FAILED_PRECONDITION);
  }

  @Test
  void steps_and_sleeps_are_accepted_under_the_epoch_of_the_claim_and_no_other() {
    String run = server.startRun("epochs", "order");
    try (BatchWorker worker = new BatchWorker(server, "epochs", "order")) {
      PollTaskResponse task = poll(worker, "epochs");
      assertThat(task.getEpoch()).isEqualTo(1);
      BeginStepRequest.Builder pay = BeginStepRequest.newBuilder().setRunId(run).setStepName("pay");
      refused(() -> workers().beginStep(pay.clone().setEpoch(2).build()));
      String step = workers().beginStep(pay.clone().setEpoch(1).build()).getStepId();
      CompleteStepRequest.Builder complete =
          CompleteStepRequest.newBuilder().setRunId(run).setStepId(step).setOutput(payload("1"));

      disagrees(() -> workers().completeStep(complete.clone().setEpoch(2).build()));
      CompleteStepResponse completed = workers().completeStep(complete.clone().setEpoch(1).build());

      assertThat(completed.getStep().getOutput()).isEqualTo(payload("1"));
      assertThat(completed.getStep().getStatus()).isEqualTo(StepStatus.STEP_STATUS_COMPLETED);
      String ship = begin(run, "ship", StepKind.STEP_KIND_FUNCTION);
      FailStepRequest.Builder fail =
          FailStepRequest.newBuilder()
              .setRunId(run)
              .setStepId(ship)
              .setError(ErrorDetail.newBuilder().setMessage("no").setNonRetryable(true));
      disagrees(() -> workers().failStep(fail.clone().setEpoch(2).build()));
      assertThat(workers().failStep(fail.clone().setEpoch(1).build()).getScheduledRetry())
          .isFalse();
      SleepRequest.Builder sleep =
          SleepRequest.newBuilder()
              .setRunId(run)
              .setStepId(begin(run, "nap", StepKind.STEP_KIND_SLEEP))
              .setDuration(Duration.newBuilder().setSeconds(600));
      disagrees(() -> workers().sleep(sleep.clone().setEpoch(2).build()));
      workers().sleep(sleep.clone().setEpoch(1).build());
      assertThat(server.run(run).getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_SLEEPING);
    }
  }

  private static String begin(String run, String name, StepKind kind) {
    return workers()
        .beginStep(
            BeginStepRequest.newBuilder()
                .setRunId(run)
                .setStepName(name)
                .setKind(kind)
                .setEpoch(1)
                .build())
        .getStepId();
  }

  @Test
  void a_run_ends_under_the_epoch_of_the_claim_and_no_other() {
    String first = server.startRun("ends", "order");
    try (BatchWorker worker = new BatchWorker(server, "ends", "order")) {
      poll(worker, "ends");
      CompleteWorkflowRequest.Builder complete =
          CompleteWorkflowRequest.newBuilder().setRunId(first).setOutput(payload("1"));
      refused(() -> workers().completeWorkflow(complete.clone().setEpoch(2).build()));
      assertThat(workers().completeWorkflow(complete.clone().setEpoch(1).build()).getStatus())
          .isEqualTo(WorkflowStatus.WORKFLOW_STATUS_COMPLETED);

      String second = server.startRun("ends", "order");
      poll(worker, "ends");
      FailWorkflowRequest.Builder fail =
          FailWorkflowRequest.newBuilder()
              .setRunId(second)
              .setError(ErrorDetail.newBuilder().setMessage("no"));
      refused(() -> workers().failWorkflow(fail.clone().setEpoch(2).build()));
      assertThat(workers().failWorkflow(fail.clone().setEpoch(1).build()).getStatus())
          .isEqualTo(WorkflowStatus.WORKFLOW_STATUS_FAILED);
    }
  }
}
