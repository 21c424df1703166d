package dev.kagzi.server;

import static dev.kagzi.server.TestServer.payload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.protocol.v1.DeregisterRequest;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.FailWorkflowRequest;
import dev.kagzi.protocol.v1.GetWorkerRequest;
import dev.kagzi.protocol.v1.PollTaskResponse;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.RetryPolicy;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowsRequest;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.WorkflowStatus;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
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

  /** Code without steps may take longer than its lease; the worker still executes it. */
  @Test
  void a_worker_has_not_drained_while_it_executes_a_run_whose_lease_has_ended() throws Exception {
    String run = server.startRun("drain-lapsed", "order");
    String own =
        server
            .workflows()
            .startWorkflow(
                TestServer.start("drain-lapsed", "order").setHeartbeatTimeoutMs(600_000).build())
            .getRunId();
    try (BareWorker worker = new BareWorker(server, "drain-lapsed", "host", 1, "order")) {
      assertThat(List.of(worker.poll().getRunId(), worker.poll().getRunId()))
          .containsExactlyInAnyOrder(run, own);
      // No worker may claim the runs again when their leases end.
      assertThat(deregister(worker.id(), true)).as("with two runs").isFalse();
      endLeases("drain-lapsed");

      assertThat(deregister(worker.id(), true)).as("with two runs without a lease").isFalse();
      assertThat(active(worker)).isEqualTo(2);
      worker.complete(run, payload("1"));
      assertThat(deregister(worker.id(), true)).as("with a lease of its own").isFalse();
      assertThat(active(worker)).isEqualTo(1);
      worker.complete(own, payload("1"));
      assertThat(deregister(worker.id(), true)).as("without runs").isTrue();
      assertThat(active(worker)).isZero();
    }
  }

  private static void endLeases(String queue) throws SQLException {
    EmbeddedPostgres postgres = SharedPostgres.server();
    try (Connection connection =
            DriverManager.getConnection(
                postgres.jdbcUrl(server.database()), postgres.user(), postgres.password());
        Statement update = connection.createStatement()) {
      update.execute(
          "UPDATE kagzi.workflow_runs SET available_at = kagzi.clock() - interval '1 hour'"
              + " WHERE task_queue = '"
              + queue
              + "'");
    }
  }

  private static int active(BareWorker worker) {
    return server
        .admin()
        .getWorker(GetWorkerRequest.newBuilder().setWorkerId(worker.id()).build())
        .getWorker()
        .getActiveWorkflowCount();
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
