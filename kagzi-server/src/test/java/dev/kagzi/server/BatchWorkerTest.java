package dev.kagzi.server;

import static dev.kagzi.server.BatchWorker.done;
import static dev.kagzi.server.BatchWorker.item;
import static dev.kagzi.server.BatchWorker.stepDone;
import static dev.kagzi.server.TestServer.payload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.protobuf.ByteString;
import dev.kagzi.protocol.v1.AttachResponse;
import dev.kagzi.protocol.v1.CancelWorkflowRequest;
import dev.kagzi.protocol.v1.DrainWorkerRequest;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.GetHistoryRequest;
import dev.kagzi.protocol.v1.GetWorkerRequest;
import dev.kagzi.protocol.v1.HeartbeatRequest;
import dev.kagzi.protocol.v1.HeartbeatResponse;
import dev.kagzi.protocol.v1.ListStepsRequest;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.StepStatus;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.Worker;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import dev.kagzi.protocol.v1.WorkerStatus;
import dev.kagzi.protocol.v1.WorkflowStatus;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Workers with tasks and reports in batches and one Attach stream. */
class BatchWorkerTest {
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
  void a_poll_takes_no_more_tasks_than_the_worker_has_slots() {
    Set<String> started = new HashSet<>();
    for (int i = 0; i < 5; i++) {
      started.add(server.startRun("slots", "order"));
    }
    try (BatchWorker worker = new BatchWorker(server, "slots", "order")) {
      List<Task> first = worker.poll(3);
      List<Task> second = worker.poll(3);

      assertThat(first).hasSize(3);
      assertThat(second).hasSize(2);
      Set<String> taken = new HashSet<>();
      first.forEach(task -> taken.add(task.getRunId()));
      second.forEach(task -> taken.add(task.getRunId()));
      assertThat(taken).isEqualTo(started);
      assertThat(first.get(0).getInput()).isEqualTo(payload("\"in\""));
      assertThat(first.get(0).getAttempt()).isEqualTo(1);
      assertThat(first.get(0).getEpoch()).isEqualTo(1);
      assertThat(first.get(0).getCreatedAt())
          .isEqualTo(server.run(first.get(0).getRunId()).getCreatedAt());
    }
  }

  @Test
  void each_report_of_a_batch_is_answered_in_order() {
    server.startRun("reports", "order");
    server.startRun("reports", "order");
    try (BatchWorker worker = new BatchWorker(server, "reports", "order")) {
      List<Task> tasks = worker.poll(2);
      Task task = tasks.get(0);

      List<ReportResult> results =
          worker.report(
              stepDone(task, "charge", payload("1")),
              item(tasks.get(1)),
              stepDone(task, "charge", payload("2")),
              item(task)
                  .setEpoch(task.getEpoch() + 1)
                  .setWorkflowDone(ReportItem.WorkflowDone.getDefaultInstance()),
              done(task));

      assertThat(results).hasSize(5);
      assertThat(results.get(0).hasAccepted()).isTrue();
      assertThat(results.get(1).getRefused().getMessage()).contains("what");
      assertThat(results.get(2).hasAlreadyRecorded() || results.get(2).hasAccepted()).isTrue();
      assertThat(results.get(3).hasClaimLost()).isTrue();
      assertThat(results.get(4).getAccepted().getStatus())
          .isEqualTo(WorkflowStatus.WORKFLOW_STATUS_COMPLETED);
    }
  }

  @Test
  void a_run_does_not_end_after_a_report_that_could_not_be_read() {
    server.startRun("unreadable", "order");
    try (BatchWorker worker = new BatchWorker(server, "unreadable", "order")) {
      Task task = worker.poll(1).get(0);

      List<ReportResult> results = worker.report(item(task), done(task));

      assertThat(results).hasSize(2);
      assertThat(results).allMatch(ReportResult::hasRefused);
      assertThat(results.get(1).getRefused()).isEqualTo(results.get(0).getRefused());
      assertThat(worker.report(done(task)).get(0).hasAccepted()).isTrue();
    }
  }

  @Test
  void a_run_that_ends_with_open_steps_shows_none_of_them_as_running() {
    server.startRun("open", "order");
    try (BatchWorker worker = new BatchWorker(server, "open", "order")) {
      Task task = worker.poll(1).get(0);
      worker.report(
          item(task)
              .setStepStarted(
                  ReportItem.StepStarted.newBuilder().setStepKey("left").setAttempt(1)));

      worker.report(
          item(task).setWorkflowDone(ReportItem.WorkflowDone.newBuilder().setOpenSteps(true)));

      assertThat(
              server
                  .admin()
                  .listSteps(ListStepsRequest.newBuilder().setRunId(task.getRunId()).build())
                  .getStepsList())
          .extracting(Step::getStatus)
          .containsExactly(StepStatus.STEP_STATUS_FAILED);
    }
  }

  @Test
  void a_failed_step_of_a_batch_is_retried_and_its_failure_comes_with_the_task() {
    server.startRun("retry", "order");
    try (BatchWorker worker = new BatchWorker(server, "retry", "order")) {
      Task task = worker.poll(1).get(0);

      ReportResult result =
          worker
              .report(
                  item(task)
                      .setStepFailed(
                          ReportItem.StepFailed.newBuilder()
                              .setStepKey("charge")
                              .setAttempt(1)
                              .setError(
                                  ErrorDetail.newBuilder()
                                      .setMessage("no money")
                                      .putMetadata("type", "java.io.IOException"))
                              .setRetryPolicy(
                                  dev.kagzi.protocol.v1.RetryPolicy.newBuilder()
                                      .setInitialIntervalMs(1_500)
                                      .setJitter(0))))
              .get(0);
      Task again = worker.poll(1).get(0);

      assertThat(result.getRetryScheduled().getNextAttempt()).isEqualTo(2);
      assertThat(result.getRetryScheduled().getDelayMs()).isEqualTo(1_500);
      assertThat(result.getRetryScheduled().getClaimKept()).isFalse();
      assertThat(again.getRunId()).isEqualTo(task.getRunId());
      assertThat(again.getEpoch()).isEqualTo(task.getEpoch() + 1);
      assertThat(again.getSteps(0).getRetry().getError().getMessage()).isEqualTo("no money");
      assertThat(again.getSteps(0).getRetry().getError().getMetadataMap())
          .containsEntry("type", "java.io.IOException");
    }
  }

  @Test
  void a_cancelled_run_is_stopped_over_the_attached_stream() throws Exception {
    String runId = server.startRun("attach", "order");
    try (BatchWorker worker = new BatchWorker(server, "attach", "order")) {
      worker.attach();
      assertThat(event(worker).hasAttached()).isTrue();
      Task task = worker.poll(1).get(0);

      server.workflows().cancelWorkflow(CancelWorkflowRequest.newBuilder().setRunId(runId).build());
      AttachResponse.Stop stop = event(worker).getStop();

      assertThat(stop.getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_CANCELLED);
      assertThat(stop.getClaims(0).getRunId()).isEqualTo(runId);
      assertThat(stop.getClaims(0).getEpoch()).isEqualTo(task.getEpoch());
      assertThat(worker.report(done(task)).get(0).getClaimLost().getStatus())
          .isEqualTo(WorkflowStatus.WORKFLOW_STATUS_CANCELLED);
    }
  }

  @Test
  void a_drained_worker_is_notified_and_gets_no_more_work() throws Exception {
    try (BatchWorker worker = new BatchWorker(server, "drain", "order")) {
      worker.attach();
      assertThat(event(worker).hasAttached()).isTrue();

      assertThat(
              server
                  .admin()
                  .drainWorker(DrainWorkerRequest.newBuilder().setWorkerId(worker.id).build())
                  .getSuccess())
          .isTrue();

      assertThat(event(worker).hasDrain()).isTrue();
      assertThat(
              server
                  .workers()
                  .heartbeat(HeartbeatRequest.newBuilder().setWorkerId(worker.id).build())
                  .getShouldDrain())
          .isTrue();
      CallErrors.refused(Status.Code.FAILED_PRECONDITION, () -> worker.poll(1));
      assertThat(worker(worker.id).getStatus()).isEqualTo(WorkerStatus.WORKER_STATUS_DRAINING);
    }
  }

  @Test
  void a_heartbeat_returns_lost_claims_and_counts_finished_runs() {
    String runId = server.startRun("beat", "order");
    try (BatchWorker worker = new BatchWorker(server, "beat", "order")) {
      Task task = worker.poll(1).get(0);

      HeartbeatResponse response =
          server
              .workers()
              .heartbeat(
                  HeartbeatRequest.newBuilder()
                      .setWorkerId(worker.id)
                      .addClaims(claim(runId, task.getEpoch()))
                      .addClaims(claim(runId, task.getEpoch() + 7))
                      .setActiveCount(1)
                      .setCompletedDelta(4)
                      .setFailedDelta(2)
                      .build());

      assertThat(response.getAccepted()).isTrue();
      assertThat(response.getLostList()).containsExactly(claim(runId, task.getEpoch() + 7));
      Worker shown = worker(worker.id);
      assertThat(shown.getActiveWorkflowCount()).isEqualTo(1);
      assertThat(shown.getTotalCompleted()).isEqualTo(4);
      assertThat(shown.getTotalFailed()).isEqualTo(2);
      assertThat(shown.getWorkflowTypesList()).containsExactly("order");
      assertThat(shown.getTaskQueue()).isEqualTo("beat");
      assertThat(shown.getNamespace()).isEqualTo("default");
    }
  }

  @Test
  void a_long_history_is_sent_in_pages_and_complete() {
    String runId = server.startRun("history", "order");
    Payload large = Payload.newBuilder().setData(ByteString.copyFrom(new byte[100 << 10])).build();
    try (BatchWorker worker = new BatchWorker(server, "history", "order")) {
      Task first = worker.poll(1).get(0);
      for (int batch = 0; batch < 5; batch++) {
        ReportItem.Builder[] items = new ReportItem.Builder[20];
        for (int i = 0; i < items.length; i++) {
          items[i] = stepDone(first, "step-" + (batch * items.length + i), large);
        }
        assertThat(worker.report(items)).allMatch(ReportResult::hasAccepted);
      }
      worker.report(item(first).setReleased(ReportItem.Released.getDefaultInstance()));

      Task second = worker.poll(1).get(0);
      List<RecordedStep> steps = new ArrayList<>();
      server
          .workers()
          .getHistory(
              GetHistoryRequest.newBuilder().setRunId(runId).setEpoch(second.getEpoch()).build())
          .forEachRemaining(page -> steps.addAll(page.getStepsList()));

      assertThat(second.getRunId()).isEqualTo(runId);
      assertThat(second.getHistoryApart()).isTrue();
      assertThat(steps).hasSize(100).allMatch(RecordedStep::hasOutput);
      CallErrors.refused(
          Status.Code.FAILED_PRECONDITION,
          () ->
              server
                  .workers()
                  .getHistory(
                      GetHistoryRequest.newBuilder()
                          .setRunId(runId)
                          .setEpoch(first.getEpoch())
                          .build())
                  .hasNext());
    }
  }

  @Test
  void a_poll_whose_caller_has_gone_claims_no_run() {
    try (BatchWorker gone = new BatchWorker(server, "gone", "order");
        BatchWorker there = new BatchWorker(server, "gone", "order")) {
      int before = server.server().openCalls();
      ListenableFuture<?> poll =
          WorkerServiceGrpc.newFutureStub(server.sharedChannel()).pollTasks(gone.pollRequest(10));
      await().atMost(Duration.ofSeconds(5)).until(() -> server.server().openCalls() == before + 1);
      poll.cancel(true);
      await().atMost(Duration.ofSeconds(5)).until(() -> server.server().openCalls() == before);

      String runId = server.startRun("gone", "order");
      List<Task> tasks = there.poll(1);

      assertThat(tasks).extracting(Task::getRunId).containsExactly(runId);
    }
  }

  private static dev.kagzi.protocol.v1.ClaimRef claim(String runId, int epoch) {
    return dev.kagzi.protocol.v1.ClaimRef.newBuilder().setRunId(runId).setEpoch(epoch).build();
  }

  private static AttachResponse event(BatchWorker worker) throws InterruptedException {
    AttachResponse event = worker.events.poll(5, TimeUnit.SECONDS);
    assertThat(event).isNotNull();
    return event;
  }

  private static Worker worker(String id) {
    return server
        .admin()
        .getWorker(GetWorkerRequest.newBuilder().setWorkerId(id).build())
        .getWorker();
  }
}
