package dev.kagzi.server;

import static dev.kagzi.server.TestServer.payload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.DeregisterRequest;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.FailWorkflowRequest;
import dev.kagzi.protocol.v1.PollTaskResponse;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.RetryPolicy;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowsRequest;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.WorkflowStatus;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A response contains what is stored, and nothing else. */
class StoredAnswersTest {
  private static TestServer server;

  @BeforeAll
  static void startServer() {
    server = TestServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  private static boolean deregister(String worker, boolean drain) {
    return server
        .workers()
        .deregister(DeregisterRequest.newBuilder().setWorkerId(worker).setDrain(drain).build())
        .getDrained();
  }

  @Test
  void a_simple_worker_has_drained_when_it_has_ended_its_last_run() {
    String run = server.startRun("drain-simple", "order");
    try (BareWorker worker = new BareWorker(server, "drain-simple", "host", 1, "order")) {
      assertThat(worker.poll().getRunId()).isEqualTo(run);

      assertThat(deregister(worker.id(), true)).as("while it holds a run").isFalse();
      assertThat(deregister(worker.id(), true)).as("when it asks again").isFalse();
      worker.complete(run, payload("1"));
      assertThat(deregister(worker.id(), true)).as("without runs").isTrue();
    }
  }

  @Test
  void a_worker_that_reports_in_batches_has_drained_when_it_has_ended_its_last_run() {
    server.startRun("drain-batch", "order");
    server.startRun("drain-batch", "order");
    try (BatchWorker worker = new BatchWorker(server, "drain-batch", "order")) {
      Task first = worker.poll(1).get(0);
      Task second = worker.poll(1).get(0);

      assertThat(deregister(worker.id, true)).as("with two runs").isFalse();
      worker.report(BatchWorker.done(first));
      assertThat(deregister(worker.id, true)).as("with one run").isFalse();
      worker.report(BatchWorker.done(second));
      assertThat(deregister(worker.id, true)).as("without runs").isTrue();
    }
  }

  @Test
  void a_worker_without_runs_has_drained_at_once_and_an_unknown_one_never() {
    try (BatchWorker idle = new BatchWorker(server, "drain-idle", "order");
        BatchWorker leaving = new BatchWorker(server, "drain-leaving", "order")) {
      server.startRun("drain-leaving", "order");
      assertThat(leaving.poll(1)).hasSize(1);

      assertThat(deregister(idle.id, true)).isTrue();
      assertThat(deregister(leaving.id, false)).as("its run is released").isTrue();
      assertThat(deregister(leaving.id, false)).as("the same call again").isTrue();
      assertThat(deregister(UUID.randomUUID().toString(), true)).isFalse();
      assertThat(deregister(UUID.randomUUID().toString(), false)).isFalse();
    }
  }

  @Test
  void a_failed_run_is_answered_with_the_status_that_is_stored() {
    RetryPolicy twice =
        RetryPolicy.newBuilder().setMaximumAttempts(2).setInitialIntervalMs(1).build();
    String run =
        server
            .workflows()
            .startWorkflow(TestServer.start("failing", "order").setRetryPolicy(twice).build())
            .getRunId();
    try (BareWorker worker = new BareWorker(server, "failing", "host", 1, "order")) {
      PollTaskResponse first = worker.poll();
      assertThat(first.getRunId()).isEqualTo(run);
      assertThat(fail(worker, run)).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_PENDING);
      assertThat(server.run(run).getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_PENDING);

      assertThat(worker.poll().getRunId()).isEqualTo(run);
      assertThat(fail(worker, run)).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_FAILED);
      assertThat(server.run(run).getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_FAILED);
    }
  }

  private static WorkflowStatus fail(BareWorker worker, String run) {
    return worker
        .stub()
        .failWorkflow(
            FailWorkflowRequest.newBuilder()
                .setRunId(run)
                .setError(ErrorDetail.newBuilder().setMessage("no"))
                .build())
        .getStatus();
  }

  @Test
  void the_reserved_type_is_refused_to_bulk_starts_and_children_too() {
    StartWorkflowRequest reserved =
        StartWorkflowRequest.newBuilder()
            .setTaskQueue("reserved")
            .setWorkflowType("__kagzi_failure_handler")
            .build();
    String parent = server.startRun("reserved", "order");
    try (BatchWorker worker = new BatchWorker(server, "reserved", "order")) {
      Task task = worker.poll(1).get(0);
      assertThat(task.getRunId()).isEqualTo(parent);

      ReportResult child =
          worker
              .report(
                  BatchWorker.item(task)
                      .setChildStarted(
                          ReportItem.ChildStarted.newBuilder()
                              .setStepKey("c")
                              .setAttempt(1)
                              .setStart(reserved.toBuilder().clearTaskQueue())))
              .get(0);
      ErrorDetail bulk =
          server
              .workflows()
              .startWorkflows(StartWorkflowsRequest.newBuilder().addStarts(reserved).build())
              .getResults(0)
              .getRefused();

      assertThat(child.getRefused().getMessage())
          .contains("reserved for the handler of all failures");
      assertThat(bulk.getMessage()).contains("reserved for the handler of all failures");
    }
  }
}
