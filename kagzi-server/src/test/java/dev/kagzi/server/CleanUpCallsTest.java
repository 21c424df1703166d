package dev.kagzi.server;

import static dev.kagzi.server.BatchWorker.done;
import static dev.kagzi.server.BatchWorker.item;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.protocol.v1.AttachResponse;
import dev.kagzi.protocol.v1.CancelWorkflowRequest;
import dev.kagzi.protocol.v1.CancelWorkflowResponse;
import dev.kagzi.protocol.v1.ClaimRef;
import dev.kagzi.protocol.v1.HeartbeatRequest;
import dev.kagzi.protocol.v1.PollTasksRequest;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.WorkflowStatus;
import io.grpc.Status;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Cancel with clean-up over the wire, field by field. */
class CleanUpCallsTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  private static TestServer server;

  @BeforeAll
  static void startServer() {
    server = TestServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  private static CancelWorkflowResponse cancel(String run) {
    return server
        .workflows()
        .cancelWorkflow(
            CancelWorkflowRequest.newBuilder().setNamespace("default").setRunId(run).build());
  }

  private static PollTasksRequest.Builder request(BatchWorker worker, long cleanUpMs) {
    PollTasksRequest.Builder request = worker.pollRequest(1).toBuilder();
    request.getTypesBuilder(0).setCleanUpMs(cleanUpMs);
    return request;
  }

  private static Task poll(BatchWorker worker) {
    return server.workers().pollTasks(request(worker, 60_000).build()).getTasks(0);
  }

  private static ReportItem.Builder seen(Task task, String key) {
    return item(task)
        .setCancelSeen(
            ReportItem.CancelSeen.newBuilder().setStepKey(key).setKind(StepKind.STEP_KIND_SIGNAL));
  }

  @Test
  void a_run_that_cleans_up_is_announced_recorded_and_ends_cancelled() {
    String run = server.startRun("clean-up", "order");
    try (BatchWorker worker = new BatchWorker(server, "clean-up", "order")) {
      worker.attach();
      await()
          .atMost(SOON)
          .until(() -> worker.events.stream().anyMatch(AttachResponse::hasAttached));
      Task task = poll(worker);
      ClaimRef claim = ClaimRef.newBuilder().setRunId(run).setEpoch(task.getEpoch()).build();

      CancelWorkflowResponse answer = cancel(run);

      assertThat(task.getCancelRequested()).isFalse();
      assertThat(answer.getCancelled()).isTrue();
      assertThat(answer.getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_RUNNING);
      assertThat(answer.getCleanUpUntil()).isEqualTo(server.run(run).getDeadlineAt());
      assertThat(server.run(run).getCancelRequestedAt().getSeconds()).isPositive();
      await()
          .atMost(SOON)
          .until(
              () ->
                  worker.events.stream()
                      .anyMatch(
                          event -> event.getCancelRequested().getClaimsList().contains(claim)));
      assertThat(
              server
                  .workers()
                  .heartbeat(
                      HeartbeatRequest.newBuilder().setWorkerId(worker.id).addClaims(claim).build())
                  .getCancelRequestedList())
          .containsExactly(claim);

      worker.report(item(task).setReleased(ReportItem.Released.getDefaultInstance()));
      Task next = poll(worker);
      assertThat(next.getCancelRequested()).isTrue();
      worker.report(seen(next, "approval"));
      worker.report(item(next).setReleased(ReportItem.Released.getDefaultInstance()));
      Task replay = poll(worker);
      RecordedStep recorded = replay.getSteps(0);
      assertThat(recorded.getStepKey()).isEqualTo("approval");
      assertThat(recorded.getKind()).isEqualTo(StepKind.STEP_KIND_SIGNAL);
      assertThat(recorded.getFinalFailure().getMetadataMap()).containsKey("cancel_requested");
      assertThat(worker.report(done(replay)).get(0).getAccepted().getStatus())
          .isEqualTo(WorkflowStatus.WORKFLOW_STATUS_CANCELLED);
      assertThat(cancel(run).hasCleanUpUntil()).isFalse();
      assertThat(server.run(run).getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_CANCELLED);
    }
  }

  @Test
  void a_time_that_is_not_allowed_is_refused() {
    try (BatchWorker worker = new BatchWorker(server, "times", "order")) {
      for (long cleanUpMs : new long[] {-1, Duration.ofDays(365).toMillis() + 1}) {
        assertThat(
                CallErrors.refused(
                        Status.Code.INVALID_ARGUMENT,
                        () -> server.workers().pollTasks(request(worker, cleanUpMs).build()))
                    .getMessage())
            .contains("types.clean_up_ms", Long.toString(cleanUpMs), "365 days");
      }
    }
  }

  @Test
  void a_step_without_a_key_an_unknown_kind_and_a_scope_of_no_branch_are_refused() {
    server.startRun("refused", "order");
    try (BatchWorker worker = new BatchWorker(server, "refused", "order")) {
      Task task = poll(worker);
      ReportItem.Builder unknown = seen(task, "pay");
      unknown.getCancelSeenBuilder().setKindValue(77);

      ReportItem.Builder noScope = seen(task, "pay");
      noScope.getCancelSeenBuilder().setScope("pack");

      assertThat(worker.report(seen(task, "")).get(0).hasRefused()).isTrue();
      assertThat(worker.report(unknown).get(0).hasRefused()).isTrue();
      assertThat(worker.report(noScope).get(0).getRefused().getMessage())
          .contains("the scope of a branch");
      assertThat(worker.report(seen(task, "pay")).get(0).getRefused().getMessage())
          .contains("a run whose cancel was requested");
    }
  }
}
