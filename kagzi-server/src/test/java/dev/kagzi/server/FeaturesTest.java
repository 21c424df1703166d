package dev.kagzi.server;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.FileDescriptor;
import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.GetServerInfoRequest;
import dev.kagzi.protocol.v1.NamespaceServiceGrpc;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import io.grpc.protobuf.ProtoFileDescriptorSupplier;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The server's features tell a client which additions to the base protocol it may use. */
class FeaturesTest {

  /** The calls of the base protocol, whose fields have numbers below 100. */
  private static final Set<String> FIRST_CALLS =
      Set.of(
          "WorkflowService.StartWorkflow",
          "WorkflowService.GetWorkflow",
          "WorkflowService.GetWorkflowByExternalId",
          "WorkflowService.ListWorkflows",
          "WorkflowService.CancelWorkflow",
          "WorkflowService.RetryWorkflow",
          "WorkflowService.TerminateWorkflow",
          "WorkerService.Register",
          "WorkerService.Heartbeat",
          "WorkerService.Deregister",
          "WorkerService.PollTask",
          "WorkerService.BeginStep",
          "WorkerService.CompleteStep",
          "WorkerService.FailStep",
          "WorkerService.CompleteWorkflow",
          "WorkerService.FailWorkflow",
          "WorkerService.Sleep",
          "WorkflowScheduleService.CreateWorkflowSchedule",
          "WorkflowScheduleService.GetWorkflowSchedule",
          "WorkflowScheduleService.ListWorkflowSchedules",
          "WorkflowScheduleService.UpdateWorkflowSchedule",
          "WorkflowScheduleService.DeleteWorkflowSchedule",
          "WorkflowScheduleService.TriggerWorkflowSchedule",
          "WorkflowScheduleService.PauseWorkflowSchedule",
          "WorkflowScheduleService.ResumeWorkflowSchedule",
          "WorkflowScheduleService.ListScheduleRuns",
          "AdminService.ListWorkers",
          "AdminService.GetWorker",
          "AdminService.GetStep",
          "AdminService.ListSteps",
          "AdminService.HealthCheck",
          "AdminService.GetServerInfo",
          "AdminService.GetStats",
          "AdminService.DrainWorker",
          "AdminService.GetQueueDepth",
          "AdminService.ListWorkflowTypes",
          "NamespaceService.CreateNamespace",
          "NamespaceService.GetNamespace",
          "NamespaceService.ListNamespaces",
          "NamespaceService.UpdateNamespace",
          "NamespaceService.EnableNamespace",
          "NamespaceService.DisableNamespace");

  /** Refused by name: no server implements them yet. */
  private static final Set<String> NOT_YET =
      Set.of("StartWorkflowRequest.start_at", "StartWorkflowRequest.priority");

  /** Features that change no message, only the guarantees of base fields. */
  private static final Set<String> PROMISES = Set.of("exact-counts");

  /** Every addition with its feature. */
  private static final Map<String, List<String>> FEATURES =
      Map.ofEntries(
          entry("attach", List.of("WorkerService.Attach")),
          entry("await-workflow", List.of("WorkflowService.AwaitWorkflow")),
          entry(
              "cancel-with-clean-up",
              List.of(
                  "TypeVersion.clean_up_ms",
                  "Task.cancel_requested",
                  "ReportItem.cancel_seen",
                  "AttachResponse.cancel_requested",
                  "HeartbeatResponse.cancel_requested",
                  "CancelWorkflowResponse.clean_up_until",
                  "Workflow.cancel_requested_at")),
          entry(
              "backfill-schedule",
              List.of(
                  "WorkflowScheduleService.BackfillSchedule",
                  "BackfillScheduleResponse.conflicts")),
          entry("backward-paging", List.of("PageInfo.prev_page_token")),
          entry("blocked-runs", List.of("Workflow.blocked_by", "ListWorkflowsRequest.blocked")),
          entry(
              "callbacks",
              List.of(
                  "WorkflowService.AnswerCallback",
                  "RecordedStep.callback_url",
                  "ReportItem.callback")),
          entry(
              "caller-run-id",
              List.of(
                  "StartWorkflowRequest.run_id",
                  "RetryWorkflowRequest.new_run_id",
                  "TriggerWorkflowScheduleRequest.run_id",
                  "CreateWorkflowScheduleRequest.schedule_id")),
          entry(
              "children",
              List.of(
                  "Workflow.detached",
                  "StartWorkflowRequest.parent_run_id",
                  "StartWorkflowRequest.parent_step_id")),
          entry("claim-times", List.of("Task.claimed_at")),
          entry("deadlines", List.of("StartWorkflowRequest.deadline", "Workflow.deadline_at")),
          entry(
              "default-versions",
              List.of(
                  "AdminService.SetDefaultVersion",
                  "WorkflowTypeInfo.default_version",
                  "WorkflowTypeInfo.active_runs_by_version")),
          entry(
              "continue-as-new",
              List.of(
                  "ReportItem.continue_as_new",
                  "Workflow.continued_to",
                  "Workflow.continued_from",
                  "Workflow.first_run_id",
                  "WorkflowEnd.last_run_id")),
          entry("diagnose", List.of("AdminService.Diagnose")),
          entry(
              "epochs",
              List.of(
                  "PollTaskResponse.epoch",
                  "BeginStepRequest.epoch",
                  "CompleteStepRequest.epoch",
                  "FailStepRequest.epoch",
                  "CompleteWorkflowRequest.epoch",
                  "FailWorkflowRequest.epoch",
                  "SleepRequest.epoch",
                  "Workflow.epoch")),
          entry("explain-workflow", List.of("WorkflowService.ExplainWorkflow")),
          entry(
              "failure-handlers",
              List.of(
                  "StartWorkflowRequest.on_failure_workflow",
                  "StartWorkflowRequest.on_failure_task_queue",
                  "Workflow.on_failure_workflow",
                  "Workflow.on_failure_task_queue",
                  "Workflow.failure_handler_run_id",
                  "Workflow.failed_run_id",
                  "Namespace.failure_handler_task_queue",
                  "UpdateNamespaceRequest.clear_failure_handler")),
          entry("force-offline-worker", List.of("AdminService.ForceOfflineWorker")),
          entry("get-health", List.of("AdminService.GetHealth")),
          entry("get-history", List.of("WorkerService.GetHistory")),
          entry("get-overview", List.of("AdminService.GetOverview")),
          entry(
              "headers",
              List.of(
                  "StartWorkflowRequest.headers",
                  "Workflow.headers",
                  "Task.headers",
                  "PollTaskResponse.headers")),
          entry(
              "heartbeat-claims",
              List.of(
                  "HeartbeatRequest.claims",
                  "HeartbeatResponse.lost",
                  "HeartbeatResponse.cancelled")),
          entry(
              "id-conflict-policies",
              List.of(
                  "StartWorkflowRequest.id_conflict_policy",
                  "StartWorkflowResponse.workflow_type")),
          entry("include-payloads", List.of("PageRequest.include_payloads")),
          entry(
              "list-filters",
              List.of(
                  "ListWorkflowsRequest.version",
                  "ListWorkflowsRequest.external_id",
                  "ListWorkflowsRequest.statuses",
                  "ListWorkflowsRequest.parent_run_id",
                  "ListWorkflowsRequest.schedule_id",
                  "ListWorkflowsRequest.top_level",
                  "ListWorkflowSchedulesRequest.workflow_type",
                  "ListWorkflowSchedulesRequest.enabled")),
          entry("list-queues", List.of("AdminService.ListQueues")),
          entry("poll-tasks", List.of("WorkerService.PollTasks")),
          entry("preview-schedule", List.of("WorkflowScheduleService.PreviewSchedule")),
          entry("report", List.of("WorkerService.Report")),
          entry(
              "request-ids",
              List.of(
                  "BackfillScheduleRequest.request_id",
                  "CreateNamespaceRequest.request_id",
                  "CreateWorkflowScheduleRequest.request_id",
                  "DeleteWorkflowScheduleRequest.request_id",
                  "DisableNamespaceRequest.request_id",
                  "EnableNamespaceRequest.request_id",
                  "ForceOfflineWorkerRequest.request_id",
                  "PauseWorkflowScheduleRequest.request_id",
                  "RegisterRequest.request_id",
                  "ResumeWorkflowScheduleRequest.request_id",
                  "SetDefaultVersionRequest.request_id",
                  "UpdateNamespaceRequest.request_id",
                  "UpdateWorkflowScheduleRequest.request_id")),
          entry(
              "resume-workflow",
              List.of("WorkflowService.ResumeWorkflow", "ResumeWorkflowRequest.force")),
          entry(
              "retention",
              List.of(
                  "Namespace.retention_ms",
                  "CreateNamespaceRequest.retention_ms",
                  "UpdateNamespaceRequest.retention_ms",
                  "UpdateNamespaceRequest.clear_retention")),
          entry(
              "retry-kinds-and-jitter",
              List.of("RetryPolicy.jitter", "RetryPolicy.retryable_kinds")),
          entry("retry-version", List.of("RetryWorkflowRequest.version")),
          entry(
              "run-details",
              List.of(
                  "Workflow.origin",
                  "Workflow.crashes",
                  "Workflow.retry_of",
                  "Workflow.retry_policy",
                  "Workflow.fire_at")),
          entry(
              "schedule-jitter",
              List.of(
                  "WorkflowSchedule.jitter_ms",
                  "CreateWorkflowScheduleRequest.jitter_ms",
                  "UpdateWorkflowScheduleRequest.jitter_ms")),
          entry(
              "schedule-names",
              List.of(
                  "WorkflowSchedule.name",
                  "CreateWorkflowScheduleRequest.name",
                  "UpdateWorkflowScheduleRequest.name",
                  "GetWorkflowScheduleRequest.name",
                  "CreateWorkflowScheduleRequest.or_update")),
          entry(
              "schedule-overlap-policies",
              List.of(
                  "WorkflowSchedule.overlap_policy",
                  "CreateWorkflowScheduleRequest.overlap_policy",
                  "UpdateWorkflowScheduleRequest.overlap_policy",
                  "WorkflowSchedule.waiting_slot")),
          entry(
              "schedule-run-options",
              List.of(
                  "WorkflowSchedule.retry_policy",
                  "WorkflowSchedule.execution_timeout_ms",
                  "WorkflowSchedule.step_timeout_ms",
                  "WorkflowSchedule.on_failure_workflow",
                  "WorkflowSchedule.on_failure_task_queue",
                  "CreateWorkflowScheduleRequest.retry_policy",
                  "CreateWorkflowScheduleRequest.execution_timeout_ms",
                  "CreateWorkflowScheduleRequest.step_timeout_ms",
                  "CreateWorkflowScheduleRequest.on_failure_workflow",
                  "CreateWorkflowScheduleRequest.on_failure_task_queue",
                  "UpdateWorkflowScheduleRequest.retry_policy",
                  "UpdateWorkflowScheduleRequest.execution_timeout_ms",
                  "UpdateWorkflowScheduleRequest.step_timeout_ms",
                  "UpdateWorkflowScheduleRequest.on_failure_workflow",
                  "UpdateWorkflowScheduleRequest.on_failure_task_queue",
                  "UpdateWorkflowScheduleRequest.clear_retry_policy")),
          entry(
              "schedule-time-zones",
              List.of(
                  "WorkflowSchedule.time_zone",
                  "CreateWorkflowScheduleRequest.time_zone",
                  "UpdateWorkflowScheduleRequest.time_zone")),
          entry(
              "schedule-troubles",
              List.of("WorkflowSchedule.missed_runs", "WorkflowSchedule.problem")),
          entry(
              "published-values",
              List.of("WorkflowService.GetPublished", "ReportItem.values_published")),
          entry(
              "signals",
              List.of(
                  "WorkflowService.SignalWorkflow",
                  "WorkflowService.SignalOrStartWorkflow",
                  "WorkflowService.ListSignals",
                  "Workflow.buffered_signals",
                  "RecordedStep.timed_out",
                  "ReportItem.receive",
                  "ReportItem.receives_stopped",
                  "ReportResult.receiving",
                  "ReportResult.received")),
          entry("start-workflows", List.of("WorkflowService.StartWorkflows")),
          entry(
              "step-details",
              List.of(
                  "RecordedStep.epoch",
                  "RecordedStep.recorded_at",
                  "Step.step_key",
                  "Step.run_attempt",
                  "Step.final",
                  "Step.input_hash",
                  "Step.due_at",
                  "Step.progress")),
          entry(
              "timeouts",
              List.of(
                  "StartWorkflowRequest.execution_timeout_ms",
                  "StartWorkflowRequest.step_timeout_ms",
                  "StartWorkflowRequest.heartbeat_timeout_ms",
                  "Workflow.execution_timeout_ms",
                  "Workflow.step_timeout_ms",
                  "Workflow.heartbeat_timeout_ms",
                  "BeginStepRequest.start_to_close_timeout_ms")),
          entry("watch-workflows", List.of("WorkflowService.WatchWorkflows")),
          entry(
              "worker-counts",
              List.of(
                  "HeartbeatRequest.active_count",
                  "HeartbeatRequest.completed_delta",
                  "HeartbeatRequest.failed_delta",
                  "HeartbeatRequest.total_completed",
                  "HeartbeatRequest.total_failed",
                  "Worker.total_completed",
                  "Worker.total_failed")),
          entry(
              "worker-events", List.of("AdminService.ListWorkerEvents", "Worker.deregistered_at")),
          entry("worker-instances", List.of("RegisterRequest.instance_id")),
          entry(
              "worker-namespaces",
              List.of(
                  "Worker.namespace",
                  "GetWorkerRequest.namespace",
                  "DrainWorkerRequest.namespace",
                  "HeartbeatRequest.namespace",
                  "DeregisterRequest.namespace")),
          entry("worker-versions", List.of("RegisterRequest.served", "Worker.served")));

  private static Stream<FileDescriptor> files() {
    return Stream.of(
            WorkflowServiceGrpc.getServiceDescriptor(),
            WorkerServiceGrpc.getServiceDescriptor(),
            WorkflowScheduleServiceGrpc.getServiceDescriptor(),
            AdminServiceGrpc.getServiceDescriptor(),
            NamespaceServiceGrpc.getServiceDescriptor())
        .map(service -> (ProtoFileDescriptorSupplier) service.getSchemaDescriptor())
        .map(ProtoFileDescriptorSupplier::getFileDescriptor)
        .flatMap(file -> Stream.concat(Stream.of(file), file.getDependencies().stream()))
        .filter(file -> file.getPackage().equals("kagzi.v1"))
        .distinct();
  }

  /** Returns the calls and fields that are not in the base protocol. */
  private static Set<String> additions() {
    Set<String> additions = new TreeSet<>();
    files()
        .flatMap(file -> file.getServices().stream())
        .flatMap(service -> service.getMethods().stream())
        .map(call -> call.getService().getName() + "." + call.getName())
        .filter(call -> !FIRST_CALLS.contains(call))
        .forEach(additions::add);
    files()
        .flatMap(file -> file.getMessageTypes().stream())
        // It is the JSON input of failure handlers and not part of a call.
        .filter(message -> !message.getName().equals("WorkflowFailedEvent"))
        .flatMap(message -> message.getFields().stream())
        .filter(field -> field.getNumber() >= 100)
        .map(field -> field.getContainingType().getName() + "." + field.getName())
        .forEach(additions::add);
    additions.removeAll(NOT_YET);
    return additions;
  }

  @Test
  void every_addition_to_the_base_protocol_belongs_to_a_feature() {
    assertThat(FEATURES.values().stream().flatMap(List::stream))
        .as("an addition wants a feature here and in AdminEndpoint")
        .containsExactlyInAnyOrderElementsOf(additions());
  }

  @Test
  void the_server_lists_all_of_its_features() {
    Set<String> known = new TreeSet<>(FEATURES.keySet());
    known.addAll(PROMISES);
    try (TestServer server = TestServer.start()) {
      assertThat(
              server
                  .admin()
                  .getServerInfo(GetServerInfoRequest.getDefaultInstance())
                  .getSupportedFeaturesList())
          .containsExactlyElementsOf(known);
    }
  }
}
