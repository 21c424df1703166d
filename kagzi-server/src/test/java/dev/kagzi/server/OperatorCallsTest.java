package dev.kagzi.server;

import static dev.kagzi.server.BatchWorker.item;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.protocol.v1.DiagnoseRequest;
import dev.kagzi.protocol.v1.DiagnoseResponse;
import dev.kagzi.protocol.v1.Finding;
import dev.kagzi.protocol.v1.FindingStatus;
import dev.kagzi.protocol.v1.GetOverviewRequest;
import dev.kagzi.protocol.v1.GetOverviewResponse;
import dev.kagzi.protocol.v1.HeartbeatRequest;
import dev.kagzi.protocol.v1.ListQueuesRequest;
import dev.kagzi.protocol.v1.ListQueuesResponse;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.Queue;
import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.TypeDuration;
import dev.kagzi.protocol.v1.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The fields of the calls that show queues, a live overview and a diagnosis. */
class OperatorCallsTest {

  @Test
  void queues_show_their_runs_and_workers_page_by_page() {
    try (TestServer server = TestServer.start();
        BatchWorker worker = new BatchWorker(server, "busy", "t")) {
      server.startRun("busy", "t");
      server.startRun("busy", "t");
      server.startRun("waiting", "t");
      List<Task> tasks = worker.poll(2);
      assertThat(tasks).hasSize(2);
      worker.report(
          item(tasks.get(0))
              .setSleep(
                  ReportItem.SleepStarted.newBuilder().setStepKey("nap").setDurationMs(600_000)));
      registerWithLoad(server, "busy", 10, 3);

      ListQueuesResponse first = queues(server, PageRequest.newBuilder().setPageSize(1));
      ListQueuesResponse second =
          queues(
              server,
              PageRequest.newBuilder()
                  .setPageSize(1)
                  .setPageToken(first.getPage().getNextPageToken()));

      Queue busy = first.getQueues(0);
      Queue waiting = second.getQueues(0);
      assertThat(busy.getTaskQueue()).isEqualTo("busy");
      assertThat(busy.getPendingRuns()).isZero();
      assertThat(busy.getRunningRuns()).isEqualTo(1);
      assertThat(busy.getSleepingRuns()).isEqualTo(1);
      assertThat(busy.hasOldestDueMs()).isFalse();
      assertThat(busy.getOnlineWorkers()).isEqualTo(2);
      assertThat(busy.getTotalSlots()).isEqualTo(10);
      assertThat(busy.getFreeSlots()).isEqualTo(7);
      assertThat(waiting.getTaskQueue()).isEqualTo("waiting");
      assertThat(waiting.getPendingRuns()).isEqualTo(1);
      assertThat(waiting.hasOldestDueMs()).isTrue();
      assertThat(waiting.getOldestDueMs()).isBetween(0L, 60_000L);
      assertThat(waiting.getOnlineWorkers()).isZero();
      assertThat(second.getPage().getHasMore()).isFalse();
      assertThat(second.getQueuesList()).hasSize(1);
    }
  }

  private static ListQueuesResponse queues(TestServer server, PageRequest.Builder page) {
    return server
        .admin()
        .listQueues(ListQueuesRequest.newBuilder().setNamespace("default").setPage(page).build());
  }

  private static void registerWithLoad(TestServer server, String queue, int limit, int active) {
    String id =
        server
            .workers()
            .register(
                RegisterRequest.newBuilder()
                    .setTaskQueue(queue)
                    .addWorkflowTypes("t")
                    .setQueueConcurrencyLimit(limit)
                    .build())
            .getWorkerId();
    server
        .workers()
        .heartbeat(HeartbeatRequest.newBuilder().setWorkerId(id).setActiveCount(active).build());
  }

  @Test
  void an_overview_has_counts_queues_workers_and_durations() {
    try (TestServer server = TestServer.start();
        BatchWorker worker = new BatchWorker(server, "q", "t")) {
      server.startRun("q", "t");
      worker.report(BatchWorker.done(worker.poll(1).get(0)));
      server.startRun("other", "t");
      registerWithLoad(server, "q", 10, 3);
      // This worker does not report how many runs it executes; they are counted.
      for (int i = 0; i < 4; i++) {
        server.startRun("q", "t");
      }
      assertThat(worker.poll(4)).hasSize(4);

      GetOverviewResponse overview =
          server
              .admin()
              .getOverview(GetOverviewRequest.newBuilder().setNamespace("default").build());

      assertThat(overview.getStats().getTotalWorkflows()).isEqualTo(6);
      // The queue with more pending runs is first.
      assertThat(overview.getQueuesList())
          .extracting(Queue::getTaskQueue)
          .containsExactly("other", "q");
      // The worker with more active runs is first.
      assertThat(overview.getWorkersList())
          .extracting(Worker::getActiveWorkflowCount)
          .containsExactly(4, 3);
      TypeDuration duration = overview.getDurations(0);
      assertThat(overview.getDurationsCount()).isEqualTo(1);
      assertThat(duration.getWorkflowType()).isEqualTo("t");
      assertThat(duration.getEndedRuns()).isEqualTo(1);
      assertThat(duration.getAverageMs()).isBetween(0L, 60_000L);
      assertThat(duration.getP95Ms()).isEqualTo(duration.getAverageMs());
    }
  }

  @Test
  void a_diagnosis_names_what_it_found_and_what_to_do() throws SQLException {
    try (TestServer server = TestServer.start()) {
      String run = server.startRun("nobody", "t");
      try (Connection connection = SharedPostgres.server().connect(server.database());
          Statement statement = connection.createStatement()) {
        statement.execute(
            "UPDATE kagzi.workflow_runs SET available_at = now() - interval '10 minutes'");
      }

      DiagnoseResponse response = server.admin().diagnose(DiagnoseRequest.getDefaultInstance());

      Finding due = finding(response, "DUE_RUNS");
      assertThat(due.getStatus()).isEqualTo(FindingStatus.FINDING_STATUS_WARNING);
      assertThat(due.getMessage()).contains("1 run of type t on queue nobody in default", "10 min");
      assertThat(due.getAdvice()).contains("start workers");
      assertThat(due.getRunsList()).hasSize(1);
      assertThat(due.getRuns(0).getWhy()).startsWith("No worker");
      assertThat(due.getRuns(0).getNamespace()).isEqualTo("default");
      assertThat(due.getRuns(0).getRunId()).isEqualTo(run);
      // Databases of tests are not durable.
      assertThat(finding(response, "FSYNC").getStatus())
          .isEqualTo(FindingStatus.FINDING_STATUS_FAILURE);
      assertThat(finding(response, "SCHEMA").getStatus())
          .isEqualTo(FindingStatus.FINDING_STATUS_OK);
    }
  }

  private static Finding finding(DiagnoseResponse response, String check) {
    return response.getFindingsList().stream()
        .filter(finding -> finding.getCheck().equals(check))
        .findFirst()
        .orElseThrow();
  }
}
