package dev.kagzi.server;

import static dev.kagzi.server.TestServer.payload;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Timestamp;
import dev.kagzi.protocol.v1.BeginStepResponse;
import dev.kagzi.protocol.v1.FailStepResponse;
import dev.kagzi.protocol.v1.ListStepsRequest;
import dev.kagzi.protocol.v1.PollTaskResponse;
import dev.kagzi.protocol.v1.RetryPolicy;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.StepStatus;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Clients that know nothing of what this server adds to the first contract. */
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
  void a_sleep_of_nothing_ends_at_once() {
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
