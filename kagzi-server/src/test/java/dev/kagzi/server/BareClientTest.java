package dev.kagzi.server;

import static dev.kagzi.server.CallErrors.refused;
import static dev.kagzi.server.TestServer.payload;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Timestamp;
import dev.kagzi.protocol.v1.BeginStepRequest;
import dev.kagzi.protocol.v1.BeginStepResponse;
import dev.kagzi.protocol.v1.CompleteStepRequest;
import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.FailStepRequest;
import dev.kagzi.protocol.v1.FailStepResponse;
import dev.kagzi.protocol.v1.GetStepRequest;
import dev.kagzi.protocol.v1.GetWorkerRequest;
import dev.kagzi.protocol.v1.ListStepsRequest;
import dev.kagzi.protocol.v1.ListWorkersRequest;
import dev.kagzi.protocol.v1.PollTaskRequest;
import dev.kagzi.protocol.v1.PollTaskResponse;
import dev.kagzi.protocol.v1.RetryPolicy;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.StepStatus;
import dev.kagzi.protocol.v1.Worker;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowStatus;
import io.grpc.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Clients that know only the base protocol, without this server's additions. */
class BareClientTest {
  private static final RetryPolicy QUICK =
      RetryPolicy.newBuilder().setMaximumAttempts(3).setInitialIntervalMs(100).build();

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
  void a_bare_client_runs_steps_retries_one_sleeps_and_completes() {
    String runId = server.startRun("bare", "order");

    try (BareWorker worker = new BareWorker(server, "bare", "host-1", 1, "order")) {
      executeOrder(worker, runId);
    }

    Workflow run = server.run(runId);
    assertThat(run.getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_COMPLETED);
    assertThat(run.getInput()).isEqualTo(payload("\"in\""));
    assertThat(run.getOutput()).isEqualTo(payload("\"out\""));
    assertThat(run.getAttempts()).isEqualTo(1);
    assertThat(run.hasStartedAt()).isTrue();
    assertThat(run.hasFinishedAt()).isTrue();
    assertThat(steps(runId))
        .extracting(step -> step.getName() + " " + step.getAttemptNumber() + " " + step.getStatus())
        .containsExactly(
            "charge 1 " + StepStatus.STEP_STATUS_COMPLETED,
            "ship 1 " + StepStatus.STEP_STATUS_FAILED,
            "ship 2 " + StepStatus.STEP_STATUS_COMPLETED,
            "nap 1 " + StepStatus.STEP_STATUS_COMPLETED);
  }

  @Test
  void two_bare_clients_with_the_same_host_and_pid_do_not_disturb_each_other() {
    String first = server.startRun("twins-1", "order");
    String second = server.startRun("twins-2", "order");

    try (BareWorker one = new BareWorker(server, "twins-1", "container", 1, "order");
        BareWorker other = new BareWorker(server, "twins-2", "container", 1, "order");
        BareWorker third = new BareWorker(server, "twins-2", "container", 1, "order")) {
      assertThat(List.of(one.id(), other.id(), third.id())).doesNotHaveDuplicates();
      executeOrder(one, first);
      third
          .stub()
          .deregister(
              dev.kagzi.protocol.v1.DeregisterRequest.newBuilder().setWorkerId(third.id()).build());
      executeOrder(other, second);
      assertThat(one.heartbeat()).isTrue();
      assertThat(other.heartbeat()).isTrue();
    }

    assertThat(server.run(first).getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_COMPLETED);
    assertThat(server.run(second).getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_COMPLETED);
  }

  @Test
  void a_sleep_of_zero_ends_at_once() {
    String runId = server.startRun("zero", "nap");
    try (BareWorker worker = new BareWorker(server, "zero", "host", 1, "nap")) {
      assertThat(worker.poll().getRunId()).isEqualTo(runId);
      BeginStepResponse nap =
          worker.begin(runId, "nap", StepKind.STEP_KIND_SLEEP, RetryPolicy.getDefaultInstance());

      worker.sleep(runId, nap.getStepId(), Duration.ZERO);
      PollTaskResponse again = worker.poll();

      assertThat(again.getRunId()).isEqualTo(runId);
      assertThat(begin(worker, runId, "nap", StepKind.STEP_KIND_SLEEP).getShouldExecute())
          .isFalse();
      assertThat(worker.complete(runId, payload("1")))
          .isEqualTo(WorkflowStatus.WORKFLOW_STATUS_COMPLETED);
    }
  }

  @Test
  void a_finally_failed_step_returns_its_failure_and_not_a_lost_claim() {
    String runId = server.startRun("final", "order");
    try (BareWorker worker = new BareWorker(server, "final", "h", 1, "order")) {
      assertThat(worker.poll().getRunId()).isEqualTo(runId);
      ErrorDetail failure =
          ErrorDetail.newBuilder()
              .setCode(ErrorCode.ERROR_CODE_NOT_FOUND)
              .setMessage("no such customer")
              .setNonRetryable(true)
              .setSubject("customer")
              .setSubjectId("c-7")
              .putMetadata("type", "CustomerMissing")
              .putMetadata("code", "E42")
              .build();
      failFinally(worker, runId, "charge", failure);

      ErrorDetail given = refused(Status.Code.ABORTED, () -> worker.begin(runId, "charge"));

      // The server adds metadata that the failure does not have.
      assertThat(given).isEqualTo(failure.toBuilder().putMetadata("status", "ABORTED").build());

      ErrorDetail large =
          ErrorDetail.newBuilder()
              .setMessage("m".repeat(8_000))
              .putMetadata("stack", "s".repeat(30_000))
              .putMetadata("type", "Large")
              .build();
      failFinally(worker, runId, "large", large);
      ErrorDetail cut = refused(Status.Code.ABORTED, () -> worker.begin(runId, "large"));
      assertThat(cut.getMessage()).startsWith("mmm").hasSizeLessThan(2_000);
      assertThat(cut.getMetadataMap())
          .containsEntry("type", "Large")
          .containsEntry("code", "STEP_FAILED")
          .hasEntrySatisfying("stack", stack -> assertThat(stack).startsWith("sss"));

      refused(
          Status.Code.FAILED_PRECONDITION,
          () ->
              worker
                  .stub()
                  .beginStep(
                      BeginStepRequest.newBuilder()
                          .setRunId(server.startRun("final", "order"))
                          .setStepName("charge")
                          .build()));
    }
  }

  private static void failFinally(
      BareWorker worker, String runId, String step, ErrorDetail failure) {
    BeginStepResponse begun =
        worker.begin(
            runId,
            step,
            StepKind.STEP_KIND_FUNCTION,
            RetryPolicy.newBuilder().setMaximumAttempts(1).build());
    FailStepResponse failed =
        worker
            .stub()
            .failStep(
                FailStepRequest.newBuilder()
                    .setRunId(runId)
                    .setStepId(begun.getStepId())
                    .setError(failure)
                    .build());
    assertThat(failed.getScheduledRetry()).isFalse();
  }

  @Test
  void a_poll_without_work_ends_before_its_deadline() {
    try (BareWorker worker = new BareWorker(server, "idle", "h", 1, "order")) {
      PollTaskResponse none =
          worker
              .stub()
              .withDeadlineAfter(6, TimeUnit.SECONDS)
              .pollTask(
                  PollTaskRequest.newBuilder()
                      .setWorkerId(worker.id())
                      .setTaskQueue("idle")
                      .addWorkflowTypes("order")
                      .build());

      assertThat(none.getRunId()).isEmpty();
    }
  }

  @Test
  void a_step_has_the_name_that_it_was_given() {
    String runId = server.startRun("names", "order");
    List<String> names =
        List.of("pay", "pay#2", "pay#2#3", "a[0]/pay", "a[0]/b[1]/pay#4", "x/y@1.1");
    try (BareWorker worker = new BareWorker(server, "names", "h", 1, "order")) {
      assertThat(worker.poll().getRunId()).isEqualTo(runId);
      for (String name : names) {
        BeginStepResponse begun = worker.begin(runId, name);
        assertThat(begun.getShouldExecute()).isTrue();
        Step completed =
            worker
                .stub()
                .completeStep(
                    CompleteStepRequest.newBuilder()
                        .setRunId(runId)
                        .setStepId(begun.getStepId())
                        .setOutput(payload("1"))
                        .build())
                .getStep();
        assertThat(completed.getName()).isEqualTo(name);
        assertThat(
                server
                    .admin()
                    .getStep(GetStepRequest.newBuilder().setStepId(begun.getStepId()).build())
                    .getStep()
                    .getName())
            .isEqualTo(name);
        assertThat(worker.begin(runId, name).getShouldExecute()).isFalse();
      }

      assertThat(steps(runId)).extracting(Step::getName).containsExactlyInAnyOrderElementsOf(names);
      for (String name : names) {
        assertThat(
                server
                    .admin()
                    .listSteps(
                        ListStepsRequest.newBuilder().setRunId(runId).setStepName(name).build())
                    .getStepsList())
            .extracting(Step::getName)
            .containsExactly(name);
      }
    }
  }

  @Test
  void the_runs_of_a_worker_that_does_not_count_them_are_counted() {
    try (BareWorker worker = new BareWorker(server, "busy", "h", 1, "order", "long");
        BareWorker idle = new BareWorker(server, "busy", "h", 2, "other")) {
      assertThat(activeCounts("busy")).containsOnly(0);
      String first = server.startRun("busy", "order");
      server
          .workflows()
          .startWorkflow(
              TestServer.start("busy", "long")
                  .setVersion("7")
                  .setHeartbeatTimeoutMs(600_000)
                  .build());
      server.workflows().startWorkflow(TestServer.start("busy", "order").setVersion("2").build());
      for (int i = 0; i < 3; i++) {
        assertThat(worker.poll().getRunId()).isNotEmpty();
      }

      assertThat(active(worker)).isEqualTo(3);
      assertThat(worker.heartbeat()).isTrue();
      assertThat(active(worker)).isEqualTo(3);
      assertThat(active(idle)).isZero();
      assertThat(activeCounts("busy")).containsExactlyInAnyOrder(3, 0);
      worker.complete(first, payload("1"));
      assertThat(active(worker)).isEqualTo(2);
    }
  }

  private static int active(BareWorker worker) {
    return server
        .admin()
        .getWorker(GetWorkerRequest.newBuilder().setWorkerId(worker.id()).build())
        .getWorker()
        .getActiveWorkflowCount();
  }

  private static List<Integer> activeCounts(String queue) {
    return server
        .admin()
        .listWorkers(ListWorkersRequest.newBuilder().setTaskQueue(queue).build())
        .getWorkersList()
        .stream()
        .map(Worker::getActiveWorkflowCount)
        .toList();
  }

  private static void executeOrder(BareWorker worker, String runId) {
    PollTaskResponse task = worker.poll();
    assertThat(task.getRunId()).isEqualTo(runId);
    assertThat(task.getWorkflowType()).isEqualTo("order");
    assertThat(task.getInput()).isEqualTo(payload("\"in\""));

    BeginStepResponse charge = worker.begin(runId, "charge");
    assertThat(charge.getShouldExecute()).isTrue();
    worker.complete(runId, charge.getStepId(), payload("42"));

    BeginStepResponse ship = begin(worker, runId, "ship", StepKind.STEP_KIND_FUNCTION);
    FailStepResponse failed = worker.fail(runId, ship.getStepId(), "no truck");
    assertThat(failed.getScheduledRetry()).isTrue();
    assertThat(failed.hasRetryAt()).isTrue();

    assertThat(worker.poll().getRunId()).isEqualTo(runId);
    BeginStepResponse known = worker.begin(runId, "charge");
    assertThat(known.getShouldExecute()).isFalse();
    assertThat(known.getCachedOutput()).isEqualTo(payload("42"));
    BeginStepResponse again = begin(worker, runId, "ship", StepKind.STEP_KIND_FUNCTION);
    assertThat(again.getShouldExecute()).isTrue();
    assertThat(again.getStepId()).isNotEqualTo(ship.getStepId());
    worker.complete(runId, again.getStepId(), payload("\"shipped\""));

    BeginStepResponse nap = begin(worker, runId, "nap", StepKind.STEP_KIND_SLEEP);
    assertThat(nap.getShouldExecute()).isTrue();
    long before = System.nanoTime();
    worker.sleep(runId, nap.getStepId(), Duration.ofMillis(400));
    assertThat(worker.poll().getRunId()).isEqualTo(runId);
    Duration slept = Duration.ofNanos(System.nanoTime() - before);
    assertThat(slept).isBetween(Duration.ofMillis(390), Duration.ofMillis(1_200));
    assertThat(begin(worker, runId, "nap", StepKind.STEP_KIND_SLEEP).getShouldExecute()).isFalse();

    assertThat(worker.complete(runId, payload("\"out\"")))
        .isEqualTo(WorkflowStatus.WORKFLOW_STATUS_COMPLETED);
    assertThat(instant(failed.getRetryAt())).isBefore(instant(server.run(runId).getFinishedAt()));
    assertThat(instant(server.run(runId).getCreatedAt())).isBefore(instant(failed.getRetryAt()));
  }

  private static BeginStepResponse begin(
      BareWorker worker, String runId, String step, StepKind kind) {
    return worker.begin(runId, step, kind, QUICK);
  }

  private static List<Step> steps(String runId) {
    return server
        .admin()
        .listSteps(ListStepsRequest.newBuilder().setRunId(runId).build())
        .getStepsList();
  }

  private static Instant instant(Timestamp at) {
    return Instant.ofEpochSecond(at.getSeconds(), at.getNanos());
  }
}
