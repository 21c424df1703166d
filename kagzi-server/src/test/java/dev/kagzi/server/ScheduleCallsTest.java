package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Timestamp;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.Shard;
import dev.kagzi.protocol.v1.BackfillScheduleRequest;
import dev.kagzi.protocol.v1.BackfillScheduleResponse;
import dev.kagzi.protocol.v1.CreateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.DeleteWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.DeleteWorkflowScheduleResponse;
import dev.kagzi.protocol.v1.GetStatsRequest;
import dev.kagzi.protocol.v1.GetStatsResponse;
import dev.kagzi.protocol.v1.GetWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.ListScheduleRunsRequest;
import dev.kagzi.protocol.v1.ListWorkflowSchedulesRequest;
import dev.kagzi.protocol.v1.ListWorkflowSchedulesResponse;
import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.OverlapPolicy;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.PauseWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.PreviewScheduleRequest;
import dev.kagzi.protocol.v1.ResumeWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.RetryPolicy;
import dev.kagzi.protocol.v1.TriggerWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.UpdateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowOrigin;
import dev.kagzi.protocol.v1.WorkflowSchedule;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc.WorkflowScheduleServiceBlockingStub;
import dev.kagzi.protocol.v1.WorkflowStatus;
import io.grpc.Status;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** All calls about schedules. */
class ScheduleCallsTest {
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
    return WorkflowScheduleServiceGrpc.newBlockingStub(server.sharedChannel())
        .withDeadlineAfter(20, TimeUnit.SECONDS);
  }

  private static CreateWorkflowScheduleRequest.Builder request(String name) {
    return CreateWorkflowScheduleRequest.newBuilder()
        .setName(name)
        .setTaskQueue("q-" + name)
        .setWorkflowType("report")
        .setCronExpr("0 9 * * *");
  }

  private static WorkflowSchedule create(CreateWorkflowScheduleRequest.Builder request) {
    return schedules().createWorkflowSchedule(request.build()).getSchedule();
  }

  private static WorkflowSchedule get(String id) {
    return schedules()
        .getWorkflowSchedule(GetWorkflowScheduleRequest.newBuilder().setScheduleId(id).build())
        .getSchedule();
  }

  private static RetryPolicy policy() {
    return RetryPolicy.newBuilder()
        .setMaximumAttempts(7)
        .setInitialIntervalMs(5)
        .setBackoffCoefficient(3)
        .setMaximumIntervalMs(50)
        .setJitter(0.5)
        .build();
  }

  @Test
  void every_field_of_a_creation_takes_effect() {
    WorkflowSchedule made =
        create(
            request("full")
                .setVersion("v1")
                .setEnabled(false)
                .setMaxCatchup(7)
                .setTimeZone("Europe/Berlin")
                .setOverlapPolicy(OverlapPolicy.OVERLAP_POLICY_SKIP)
                .setJitterMs(3_000)
                .setInput(TestServer.payload("{\"a\":1}"))
                .setRetryPolicy(policy())
                .setExecutionTimeoutMs(60_000)
                .setStepTimeoutMs(5_000)
                .setOnFailureWorkflow("cleanup")
                .setOnFailureTaskQueue("repairs"));

    assertThat(made.getNamespace()).isEqualTo("default");
    assertThat(made.getName()).isEqualTo("full");
    assertThat(made.getTaskQueue()).isEqualTo("q-full");
    assertThat(made.getWorkflowType()).isEqualTo("report");
    assertThat(made.getVersion()).isEqualTo("v1");
    assertThat(made.getCronExpr()).isEqualTo("0 9 * * *");
    assertThat(made.getEnabled()).isFalse();
    assertThat(made.getMaxCatchup()).isEqualTo(7);
    assertThat(made.getTimeZone()).isEqualTo("Europe/Berlin");
    assertThat(made.getOverlapPolicy()).isEqualTo(OverlapPolicy.OVERLAP_POLICY_SKIP);
    assertThat(made.getJitterMs()).isEqualTo(3_000);
    assertThat(made.getInput()).isEqualTo(TestServer.payload("{\"a\":1}"));
    assertThat(made.getRetryPolicy()).isEqualTo(policy());
    assertThat(made.getExecutionTimeoutMs()).isEqualTo(60_000);
    assertThat(made.getStepTimeoutMs()).isEqualTo(5_000);
    assertThat(made.getOnFailureWorkflow()).isEqualTo("cleanup");
    assertThat(made.getOnFailureTaskQueue()).isEqualTo("repairs");
    assertThat(made.hasNextFireAt()).isTrue();
    assertThat(made.hasLastFiredAt()).isFalse();
    assertThat(get(made.getScheduleId())).isEqualTo(made);
    assertThat(
            schedules()
                .getWorkflowSchedule(
                    GetWorkflowScheduleRequest.newBuilder().setName("full").build())
                .getSchedule())
        .isEqualTo(made);
  }

  @Test
  void a_client_that_knows_only_the_first_fields_gets_a_schedule_with_defaults() {
    WorkflowSchedule made =
        create(
            CreateWorkflowScheduleRequest.newBuilder()
                .setTaskQueue("plain")
                .setWorkflowType("report")
                .setCronExpr("@yearly"));

    assertThat(made.getEnabled()).isTrue();
    assertThat(made.getMaxCatchup()).isEqualTo(100);
    assertThat(made.getTimeZone()).isEqualTo("UTC");
    assertThat(made.getOverlapPolicy()).isEqualTo(OverlapPolicy.OVERLAP_POLICY_ALLOW);
    assertThat(made.hasNextFireAt()).isTrue();
  }

  @Test
  void every_field_of_an_update_takes_effect_and_the_others_stay() {
    WorkflowSchedule made =
        create(request("before").setInput(TestServer.payload("1")).setRetryPolicy(policy()));
    UpdateWorkflowScheduleRequest.Builder update =
        UpdateWorkflowScheduleRequest.newBuilder().setScheduleId(made.getScheduleId());

    WorkflowSchedule same =
        schedules().updateWorkflowSchedule(update.clone().build()).getSchedule();
    WorkflowSchedule changed =
        schedules()
            .updateWorkflowSchedule(
                update
                    .clone()
                    .setName("after")
                    .setTaskQueue("q2")
                    .setWorkflowType("t2")
                    .setVersion("v2")
                    .setCronExpr("@hourly")
                    .setTimeZone("Asia/Tokyo")
                    .setInput(TestServer.payload("2"))
                    .setEnabled(false)
                    .setMaxCatchup(0)
                    .setOverlapPolicy(OverlapPolicy.OVERLAP_POLICY_BUFFER_ONE)
                    .setJitterMs(9)
                    .setExecutionTimeoutMs(8)
                    .setStepTimeoutMs(7)
                    .setOnFailureWorkflow("h")
                    .setOnFailureTaskQueue("hq")
                    .setClearRetryPolicy(true)
                    .setNextFireAt(Timestamp.newBuilder().setSeconds(4_000_000_000L))
                    .build())
            .getSchedule();
    WorkflowSchedule cleared =
        schedules()
            .updateWorkflowSchedule(
                update
                    .clone()
                    .setExecutionTimeoutMs(0)
                    .setStepTimeoutMs(0)
                    .setOnFailureWorkflow("")
                    .setOnFailureTaskQueue("")
                    .build())
            .getSchedule();

    assertThat(same.toBuilder().clearUpdatedAt().build())
        .isEqualTo(made.toBuilder().clearUpdatedAt().build());
    assertThat(changed.toBuilder().clearUpdatedAt().clearCreatedAt().clearScheduleId().build())
        .isEqualTo(
            WorkflowSchedule.newBuilder()
                .setNamespace("default")
                .setName("after")
                .setTaskQueue("q2")
                .setWorkflowType("t2")
                .setVersion("v2")
                .setCronExpr("@hourly")
                .setTimeZone("Asia/Tokyo")
                .setInput(TestServer.payload("2"))
                .setOverlapPolicy(OverlapPolicy.OVERLAP_POLICY_BUFFER_ONE)
                .setJitterMs(9)
                .setExecutionTimeoutMs(8)
                .setStepTimeoutMs(7)
                .setOnFailureWorkflow("h")
                .setOnFailureTaskQueue("hq")
                .setNextFireAt(Timestamp.newBuilder().setSeconds(4_000_000_000L))
                .build());
    assertThat(cleared.getExecutionTimeoutMs()).isZero();
    assertThat(cleared.getOnFailureWorkflow()).isEmpty();
  }

  @Test
  void triggered_and_back_filled_runs_are_runs_of_the_schedule_and_the_template_is_none() {
    WorkflowSchedule made = create(request("busy").setCronExpr("* * * * *").setEnabled(false));
    long minute = Instant.now().getEpochSecond() / 60 * 60;
    GetStatsResponse before = server.admin().getStats(GetStatsRequest.getDefaultInstance());

    String run =
        schedules()
            .triggerWorkflowSchedule(
                TriggerWorkflowScheduleRequest.newBuilder()
                    .setScheduleId(made.getScheduleId())
                    .build())
            .getRunId();
    BackfillScheduleResponse filled =
        schedules()
            .backfillSchedule(
                BackfillScheduleRequest.newBuilder()
                    .setScheduleId(made.getScheduleId())
                    .setFrom(Timestamp.newBuilder().setSeconds(minute - 180))
                    .setTo(Timestamp.newBuilder().setSeconds(minute))
                    .build());
    List<Workflow> runs =
        schedules()
            .listScheduleRuns(
                ListScheduleRunsRequest.newBuilder().setScheduleId(made.getScheduleId()).build())
            .getRunsList();
    GetStatsResponse after = server.admin().getStats(GetStatsRequest.getDefaultInstance());

    assertThat(filled.getStarted()).isEqualTo(3);
    assertThat(filled.getExisted()).isZero();
    assertThat(runs).hasSize(4);
    assertThat(runs)
        .allSatisfy(
            each -> {
              assertThat(each.getScheduleId()).isEqualTo(made.getScheduleId());
              assertThat(each.getOrigin()).isEqualTo(WorkflowOrigin.WORKFLOW_ORIGIN_SCHEDULE);
              assertThat(each.getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_PENDING);
            });
    assertThat(server.run(run).hasFireAt()).isFalse();
    assertThat(server.run(run).getExternalId())
        .isEqualTo("schedule:" + made.getScheduleId() + ":trigger:" + run);
    assertThat(runs.stream().filter(Workflow::hasFireAt).map(each -> each.getFireAt().getSeconds()))
        .containsExactlyInAnyOrder(minute - 180, minute - 120, minute - 60);
    assertThat(after.getTotalWorkflows() - before.getTotalWorkflows()).isEqualTo(4);
    assertThat(after.getTotalSchedules()).isEqualTo(before.getTotalSchedules());
    assertThat(get(made.getScheduleId()).getTotalRuns()).isEqualTo(4);
    assertThat(
            server
                .workflows()
                .listWorkflows(ListWorkflowsRequest.newBuilder().setTaskQueue("q-busy").build())
                .getWorkflowsCount())
        .isEqualTo(4);

    DeleteWorkflowScheduleResponse deleted =
        schedules()
            .deleteWorkflowSchedule(
                DeleteWorkflowScheduleRequest.newBuilder()
                    .setScheduleId(made.getScheduleId())
                    .build());
    assertThat(deleted.getDeleted()).isTrue();
    assertThat(
            schedules()
                .listScheduleRuns(
                    ListScheduleRunsRequest.newBuilder()
                        .setScheduleId(made.getScheduleId())
                        .build())
                .getRunsList())
        .isEqualTo(runs);
    CallErrors.refused(Status.Code.NOT_FOUND, () -> get(made.getScheduleId()));
  }

  @Test
  void a_schedule_is_paused_resumed_and_listed() {
    WorkflowSchedule made = create(request("paused"));

    WorkflowSchedule paused =
        schedules()
            .pauseWorkflowSchedule(
                PauseWorkflowScheduleRequest.newBuilder()
                    .setScheduleId(made.getScheduleId())
                    .build())
            .getSchedule();
    List<WorkflowSchedule> listed =
        schedules()
            .listWorkflowSchedules(
                ListWorkflowSchedulesRequest.newBuilder().setTaskQueue("q-paused").build())
            .getSchedulesList();
    WorkflowSchedule resumed =
        schedules()
            .resumeWorkflowSchedule(
                ResumeWorkflowScheduleRequest.newBuilder()
                    .setScheduleId(made.getScheduleId())
                    .build())
            .getSchedule();

    assertThat(paused.getEnabled()).isFalse();
    assertThat(listed).containsExactly(paused);
    assertThat(resumed.getEnabled()).isTrue();
    assertThat(resumed.getNextFireAt()).isEqualTo(made.getNextFireAt());
  }

  @Test
  void lists_leave_large_inputs_out_unless_they_are_asked_for_and_fit_into_a_message() {
    List<WorkflowSchedule> made = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      made.add(
          0,
          create(
              request("large-" + i)
                  .setTaskQueue("q-large")
                  .setInput(TestServer.payload("\"" + "x".repeat(1 << 20) + "\""))));
    }

    List<WorkflowSchedule> lean = list(PageRequest.newBuilder()).getSchedulesList();
    ListWorkflowSchedulesResponse first = list(PageRequest.newBuilder().setIncludePayloads(true));
    ListWorkflowSchedulesResponse rest =
        list(
            PageRequest.newBuilder()
                .setIncludePayloads(true)
                .setPageToken(first.getPage().getNextPageToken()));

    assertThat(lean).hasSize(4).allMatch(one -> one.getInput().getData().isEmpty());
    assertThat(lean).allMatch(one -> one.getInput().getMetadataCount() == 1);
    assertThat(first.getPage().getHasMore()).isTrue();
    assertThat(first.getSerializedSize()).isLessThan(4 << 20);
    assertThat(rest.getPage().getHasMore()).isFalse();
    assertThat(Stream.of(first, rest).flatMap(page -> page.getSchedulesList().stream()))
        .containsExactlyElementsOf(made);
  }

  private static ListWorkflowSchedulesResponse list(PageRequest.Builder page) {
    return schedules()
        .listWorkflowSchedules(
            ListWorkflowSchedulesRequest.newBuilder()
                .setTaskQueue("q-large")
                .setPage(page)
                .build());
  }

  @Test
  void a_schedule_cannot_start_the_reserved_handler_of_failures() {
    WorkflowSchedule made = create(request("handler"));

    refused(
        request("reserved").setWorkflowType("__kagzi_failure_handler"),
        "workflow_type: __kagzi_failure_handler (expected: another type");
    refused(
        request("reserved").setOnFailureWorkflow("__kagzi_failure_handler"),
        "on_failure_workflow: __kagzi_failure_handler (expected: another type");
    CallErrors.refused(
        Status.Code.INVALID_ARGUMENT,
        () ->
            schedules()
                .updateWorkflowSchedule(
                    UpdateWorkflowScheduleRequest.newBuilder()
                        .setScheduleId(made.getScheduleId())
                        .setWorkflowType("__kagzi_failure_handler")
                        .build()));
  }

  @Test
  void a_repeated_creation_is_one_and_another_of_its_name_is_refused_or_an_update() {
    String id = RunId.next(Shard.of("default", "named")).toString();
    WorkflowSchedule first = create(request("named").setScheduleId(id));
    WorkflowSchedule again = create(request("named").setScheduleId(id));

    assertThat(again).isEqualTo(first);
    assertThat(
            CallErrors.refused(
                    Status.Code.ALREADY_EXISTS, () -> create(request("named").setJitterMs(5)))
                .getMessage())
        .contains("named is taken");
    assertThat(create(request("named").setOrUpdate(true).setJitterMs(5)).getScheduleId())
        .isEqualTo(id);
  }

  @Test
  void fire_times_are_shown_before_anything_is_saved() {
    List<Long> times =
        schedules()
            .previewSchedule(
                PreviewScheduleRequest.newBuilder()
                    .setCronExpr("30 2 * * *")
                    .setTimeZone("Europe/Berlin")
                    .setCount(2)
                    .setAfter(
                        Timestamp.newBuilder()
                            .setSeconds(Instant.parse("2026-03-28T12:00:00Z").getEpochSecond()))
                    .build())
            .getFireTimesList()
            .stream()
            .map(Timestamp::getSeconds)
            .toList();

    assertThat(times)
        .containsExactly(
            Instant.parse("2026-03-29T01:00:00Z").getEpochSecond(),
            Instant.parse("2026-03-30T00:30:00Z").getEpochSecond());
  }

  @Test
  void invalid_fields_are_refused_by_name() {
    refused(request("w").setCronExpr("61 * * * *"), "field minute is \"61\"");
    refused(request("w").setCronExpr(""), "cron_expr: \"\" has 0 fields");
    refused(request("w").setCronExpr("0 0 30 2 *"), "never fires again");
    refused(request("w").setTimeZone("Europe/Atlantis"), "time_zone: Europe/Atlantis");
    refused(request("w").setMaxCatchup(-1), "max_catchup: -1");
    refused(request("w").setJitterMs(-1), "jitter_ms: -1 ms");
    refused(request("w").setExecutionTimeoutMs(-1), "execution_timeout_ms: -1");
    refused(request("w").setOverlapPolicyValue(9), "overlap_policy");
    refused(request("w").setTaskQueue(""), "task_queue");
    refused(request("w").setOnFailureTaskQueue("x"), "without on_failure_workflow");
    refused(request("w").setScheduleId("x"), "schedule_id: x");
    CallErrors.refused(Status.Code.INVALID_ARGUMENT, () -> get("no-id"));
    CallErrors.refused(Status.Code.NOT_FOUND, () -> get(UUID.randomUUID().toString()));
    CallErrors.refused(Status.Code.NOT_FOUND, () -> create(request("w").setNamespace("nowhere")));
  }

  private static void refused(CreateWorkflowScheduleRequest.Builder request, String message) {
    assertThat(CallErrors.refused(Status.Code.INVALID_ARGUMENT, () -> create(request)).getMessage())
        .contains(message);
  }
}
