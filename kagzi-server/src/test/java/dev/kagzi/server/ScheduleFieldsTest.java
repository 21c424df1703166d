package dev.kagzi.server;

import static dev.kagzi.server.BatchWorker.item;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.Timestamp;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.protocol.v1.BackfillScheduleRequest;
import dev.kagzi.protocol.v1.BackfillScheduleResponse;
import dev.kagzi.protocol.v1.CreateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.DeleteWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.DeleteWorkflowScheduleResponse;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.GetWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.ListScheduleRunsRequest;
import dev.kagzi.protocol.v1.ListScheduleRunsResponse;
import dev.kagzi.protocol.v1.ListWorkflowSchedulesRequest;
import dev.kagzi.protocol.v1.OverlapPolicy;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.TriggerWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.UpdateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.WorkflowSchedule;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc.WorkflowScheduleServiceBlockingStub;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The fields of a schedule that change while it fires. */
class ScheduleFieldsTest {
  private static final Duration SOON = Duration.ofSeconds(30);

  private static TestServer server;

  @BeforeAll
  static void startServer() {
    server = TestServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  private static WorkflowScheduleServiceBlockingStub schedules() {
    return WorkflowScheduleServiceGrpc.newBlockingStub(server.sharedChannel());
  }

  private static CreateWorkflowScheduleRequest.Builder request(String queue) {
    return CreateWorkflowScheduleRequest.newBuilder()
        .setTaskQueue(queue)
        .setWorkflowType("report")
        .setCronExpr("@yearly");
  }

  private static WorkflowSchedule create(CreateWorkflowScheduleRequest.Builder request) {
    return schedules().createWorkflowSchedule(request.build()).getSchedule();
  }

  private static WorkflowSchedule get(WorkflowSchedule schedule) {
    return schedules()
        .getWorkflowSchedule(
            GetWorkflowScheduleRequest.newBuilder().setScheduleId(schedule.getScheduleId()).build())
        .getSchedule();
  }

  private static String runId(WorkflowSchedule schedule) {
    return RunId.next(RunId.parse(schedule.getScheduleId()).orElseThrow().shard()).toString();
  }

  private static String trigger(WorkflowSchedule schedule, String run) {
    return schedules()
        .triggerWorkflowSchedule(
            TriggerWorkflowScheduleRequest.newBuilder()
                .setScheduleId(schedule.getScheduleId())
                .setRunId(run)
                .build())
        .getRunId();
  }

  /** Moves the schedule's next slot into the past. */
  private static void fallBehind(WorkflowSchedule schedule, Duration by) {
    Instant slot = Instant.now().minus(by);
    schedules()
        .updateWorkflowSchedule(
            UpdateWorkflowScheduleRequest.newBuilder()
                .setScheduleId(schedule.getScheduleId())
                .setNextFireAt(Timestamp.newBuilder().setSeconds(slot.getEpochSecond()))
                .build());
  }

  @Test
  void a_schedule_counts_how_its_runs_ended_and_lists_them_page_by_page() {
    WorkflowSchedule made = create(request("counted"));
    String chosen = runId(made);
    assertThat(trigger(made, chosen)).isEqualTo(chosen);
    assertThat(trigger(made, chosen)).as("the same call again").isEqualTo(chosen);
    trigger(made, runId(made));
    try (BatchWorker worker = new BatchWorker(server, "counted", "report")) {
      worker.report(BatchWorker.done(worker.poll(1).get(0)));
      worker.report(
          item(worker.poll(1).get(0))
              .setWorkflowFailed(
                  ReportItem.WorkflowFailed.newBuilder()
                      .setError(ErrorDetail.newBuilder().setMessage("no"))));
    }

    WorkflowSchedule now = get(made);
    ListScheduleRunsResponse first =
        schedules()
            .listScheduleRuns(
                ListScheduleRunsRequest.newBuilder()
                    .setScheduleId(made.getScheduleId())
                    .setPage(PageRequest.newBuilder().setPageSize(1))
                    .build());

    assertThat(now.getTotalRuns()).isEqualTo(2);
    assertThat(now.getSuccessfulRuns()).isEqualTo(1);
    assertThat(now.getFailedRuns()).isEqualTo(1);
    assertThat(now.getCreatedAt()).isEqualTo(made.getCreatedAt());
    assertThat(made.getUpdatedAt()).isEqualTo(made.getCreatedAt());
    assertThat(first.getRunsCount()).isEqualTo(1);
    assertThat(first.getPage().getHasMore()).isTrue();
  }

  @Test
  void a_schedule_counts_the_slots_that_it_missed() {
    WorkflowSchedule made = create(request("missed").setCronExpr("* * * * *").setMaxCatchup(1));

    fallBehind(made, Duration.ofMinutes(10));

    await().atMost(SOON).until(() -> get(made).getMissedRuns() >= 8);
    assertThat(get(made).getUpdatedAt()).isNotEqualTo(made.getUpdatedAt());
  }

  @Test
  void a_slot_that_waits_for_the_run_before_it_is_shown() {
    WorkflowSchedule made =
        create(
            request("waiting")
                .setCronExpr("* * * * *")
                .setOverlapPolicy(OverlapPolicy.OVERLAP_POLICY_BUFFER_ONE));
    trigger(made, runId(made));

    fallBehind(made, Duration.ofMinutes(2));

    await().atMost(SOON).until(() -> get(made).hasWaitingSlot());
  }

  @Test
  void a_backfill_reports_the_slots_that_another_run_blocks() throws Exception {
    WorkflowSchedule made = create(request("conflicts").setCronExpr("0 0 * * *"));
    Instant slot = Instant.now().truncatedTo(ChronoUnit.DAYS).minus(Duration.ofDays(3));
    try (Connection connection = SharedPostgres.server().connect(server.database());
        Statement statement = connection.createStatement()) {
      // No client can send this id; a run of an older server may have it.
      statement.execute(
          "UPDATE kagzi.workflow_runs SET external_id = 'schedule:%s:%s' WHERE run_id = '%s'"
              .formatted(made.getScheduleId(), slot, server.startRun("conflicts", "other")));
    }

    BackfillScheduleResponse filled =
        schedules()
            .backfillSchedule(
                BackfillScheduleRequest.newBuilder()
                    .setScheduleId(made.getScheduleId())
                    .setFrom(Timestamp.newBuilder().setSeconds(slot.getEpochSecond()))
                    .setTo(Timestamp.newBuilder().setSeconds(slot.getEpochSecond() + 2 * 86_400))
                    .build());

    assertThat(filled.getConflicts()).isEqualTo(1);
    assertThat(filled.getStarted()).isEqualTo(1);
    assertThat(filled.getExisted()).isZero();
  }

  @Test
  void a_schedule_shows_why_it_cannot_fire() throws Exception {
    WorkflowSchedule made = create(request("broken"));
    assertThat(made.getProblem()).isEmpty();
    try (Connection connection = SharedPostgres.server().connect(server.database());
        Statement statement = connection.createStatement()) {
      statement.execute(
          "UPDATE kagzi.workflow_runs SET time_zone = 'Mars' WHERE run_id = '%s'"
              .formatted(made.getScheduleId()));
      statement.execute(
          """
          UPDATE kagzi.workflow_runs SET fire_at = now() - interval '1 minute',
                 available_at = now() - interval '1 minute' WHERE run_id = '%s'
          """
              .formatted(made.getScheduleId()));
    }

    await().atMost(SOON).until(() -> get(made).getProblem().startsWith("time_zone: Mars"));
  }

  @Test
  void schedules_are_found_by_type_and_by_whether_they_fire_and_deleted_once() {
    WorkflowSchedule fires = create(request("found"));
    WorkflowSchedule paused = create(request("found").setEnabled(false).setWorkflowType("other"));

    DeleteWorkflowScheduleResponse deleted = delete(fires);
    DeleteWorkflowScheduleResponse again = delete(fires);

    assertThat(list(ListWorkflowSchedulesRequest.newBuilder().setWorkflowType("other")))
        .containsExactly(paused);
    assertThat(list(ListWorkflowSchedulesRequest.newBuilder().setEnabled(false)))
        .containsExactly(paused);
    assertThat(list(ListWorkflowSchedulesRequest.newBuilder().setEnabled(true))).isEmpty();
    assertThat(deleted.getDeleted()).isTrue();
    assertThat(deleted.getMessage()).endsWith("deleted; its runs are kept");
    assertThat(again.getDeleted()).isFalse();
    assertThat(again.getMessage()).startsWith("schedule not found");
  }

  private static DeleteWorkflowScheduleResponse delete(WorkflowSchedule schedule) {
    return schedules()
        .deleteWorkflowSchedule(
            DeleteWorkflowScheduleRequest.newBuilder()
                .setScheduleId(schedule.getScheduleId())
                .build());
  }

  private static List<WorkflowSchedule> list(ListWorkflowSchedulesRequest.Builder request) {
    return schedules()
        .listWorkflowSchedules(request.setTaskQueue("found").build())
        .getSchedulesList();
  }
}
