package dev.kagzi.server;

import static dev.kagzi.server.BatchWorker.item;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.ExplainWorkflowRequest;
import dev.kagzi.protocol.v1.ExplainWorkflowResponse;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.WaitCause;
import dev.kagzi.protocol.v1.WaitRef;
import dev.kagzi.protocol.v1.WorkflowStatus;
import io.grpc.Status;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The call that explains why a run does not continue. */
class ExplainTest {
  private static TestServer server;

  @BeforeAll
  static void startServer() {
    server = TestServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  private static ExplainWorkflowResponse explain(String run) {
    return server
        .workflows()
        .explainWorkflow(ExplainWorkflowRequest.newBuilder().setRunId(run).build());
  }

  @Test
  void a_cause_has_a_code_a_text_references_and_a_time() {
    String run = server.startRun("nobody-polls", "order");

    ExplainWorkflowResponse explained = explain(run);

    assertThat(explained.getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_PENDING);
    WaitCause cause = explained.getCauses(0);
    assertThat(explained.getCausesList()).hasSize(1);
    assertThat(cause.getCode()).isEqualTo("NO_WORKER");
    assertThat(cause.getText()).startsWith("No worker is online on queue nobody-polls");
    assertThat(cause.getAt()).isEqualTo(server.run(run).getCreatedAt());
    WaitRef ref = cause.getRefs(0);
    assertThat(ref.getKind()).isEqualTo("QUEUE");
    assertThat(ref.getId()).isEqualTo("nobody-polls");
  }

  @Test
  void a_blocked_run_names_what_differs() {
    server.startRun("changed", "order");
    try (BatchWorker worker = new BatchWorker(server, "changed", "order")) {
      Task task = worker.poll(1).get(0);
      worker.report(
          item(task)
              .setReleased(
                  ReportItem.Released.newBuilder()
                      .setDelayMs(600_000)
                      .setBlockedBy(ErrorDetail.newBuilder().setMessage("step moved"))));

      WaitCause blocked = explain(task.getRunId()).getCauses(0);

      assertThat(blocked.getCode()).isEqualTo("BLOCKED");
      assertThat(blocked.getText()).contains("step moved");
      assertThat(blocked.hasAt()).isTrue();
    }
  }

  @Test
  void a_database_that_does_not_answer_is_a_cause_and_no_error() {
    String database = TestServer.createDatabase();
    try (TestLink link = new TestLink(SharedPostgres.server().port());
        TestServer cutOff =
            TestServer.start(
                database,
                config ->
                    config.dbUrl("jdbc:postgresql://127.0.0.1:" + link.port() + "/" + database))) {
      String run = cutOff.startRun("orders", "order");
      link.cut();

      ExplainWorkflowResponse explained =
          cutOff
              .workflows()
              .explainWorkflow(ExplainWorkflowRequest.newBuilder().setRunId(run).build());
      link.restore();

      assertThat(explained.getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_UNSPECIFIED);
      assertThat(explained.getCausesList())
          .singleElement()
          .satisfies(cause -> assertThat(cause.getCode()).isEqualTo("DATABASE_AWAY"));
    }
  }

  @Test
  void an_unknown_run_is_not_found() {
    CallErrors.refused(Status.Code.NOT_FOUND, () -> explain(UUID.randomUUID().toString()));
    CallErrors.refused(Status.Code.INVALID_ARGUMENT, () -> explain("order-42"));
  }
}
