package dev.kagzi.cli;

import com.google.protobuf.Timestamp;
import dev.kagzi.protocol.v1.GetWorkflowRequest;
import dev.kagzi.protocol.v1.ListWorkersRequest;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.TypeVersion;
import dev.kagzi.protocol.v1.Worker;
import dev.kagzi.protocol.v1.WorkerStatus;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowStatus;
import dev.kagzi.protocol.v1.WorkflowTypeInfo;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "get", description = "Shows a run with every attempt of its steps.")
final class WorkflowGet extends RemoteCommand {

  private static final int WORKERS_SEEN_MAX = 100;
  private static final long DUE_SECONDS = 3;

  @Parameters(paramLabel = "RUN", description = "The run id, or the id given at its start.")
  private String run = "";

  @Override
  int run(RemoteServer server, Output output) {
    Workflow found = find(server, server.runId(run));
    List<Step> steps = WorkflowSteps.of(server, found.getRunId()).items();
    ObjectNode json = MessageJson.of(found);
    ArrayNode array = json.putArray("steps");
    steps.forEach(step -> array.add(MessageJson.of(step)));
    List<Workflow> handlers = FailureHandlers.of(server, found);
    ArrayNode handling = json.putArray("handlers");
    handlers.forEach(
        handler ->
            handling
                .addObject()
                .put("runId", handler.getRunId())
                .put("workflowType", handler.getWorkflowType())
                .put("status", RunText.status(handler.getStatus())));
    List<Workflow> started = StartedRuns.of(server, found, steps);
    ArrayNode starts = json.putArray("started");
    started.forEach(
        run ->
            starts
                .addObject()
                .put("runId", run.getRunId())
                .put("workflowType", run.getWorkflowType())
                .put("step", run.getParentStepId())
                .put("status", RunText.status(run.getStatus())));
    output.print(
        json,
        () ->
            RunText.details(found, handlers, waitsFor(server, found), steps)
                + StartedRuns.text(started));
    return ExitCode.DONE;
  }

  static Workflow find(RemoteServer server, String runId) {
    GetWorkflowRequest request =
        GetWorkflowRequest.newBuilder().setNamespace(server.namespace()).setRunId(runId).build();
    return server.call(() -> server.workflows().getWorkflow(request)).getWorkflow();
  }

  /** Returns why a run does not continue; empty if there is nothing to explain. */
  private static String waitsFor(RemoteServer server, Workflow run) {
    boolean sleeps = run.getStatus() == WorkflowStatus.WORKFLOW_STATUS_SLEEPING;
    if (sleeps && !run.hasWakeUpAt()) {
      return "the end of its children";
    }
    boolean isDue = !run.hasWakeUpAt() || isLongPast(run.getWakeUpAt());
    boolean pending = run.getStatus() == WorkflowStatus.WORKFLOW_STATUS_PENDING;
    if (!(pending || sleeps) || !isDue || run.hasBlockedBy()) {
      return "";
    }
    ListWorkersRequest request =
        ListWorkersRequest.newBuilder()
            .setNamespace(server.namespace())
            .setTaskQueue(run.getTaskQueue())
            .setStatusFilter(WorkerStatus.WORKER_STATUS_ONLINE)
            .setPage(PageRequest.newBuilder().setPageSize(WORKERS_SEEN_MAX))
            .build();
    List<Worker> workers = server.call(() -> server.admin().listWorkers(request)).getWorkersList();
    Set<String> served = new TreeSet<>();
    Set<String> versions = new TreeSet<>();
    for (Worker worker : workers) {
      for (TypeVersion type : worker.getServedList()) {
        served.add(RunText.type(type.getWorkflowType(), type.getVersion()));
        if (type.getWorkflowType().equals(run.getWorkflowType())) {
          versions.add(type.getVersion());
        }
        boolean version =
            type.getVersion().equals(run.getVersion()) || type.getVersion().equals("*");
        if (version && type.getWorkflowType().equals(run.getWorkflowType())) {
          return "a free slot of a worker";
        }
      }
    }
    return "a worker that serves %s on queue %s; online there: %s"
            .formatted(
                wanted(run),
                run.getTaskQueue(),
                workers.isEmpty()
                    ? "none"
                    : workers.size() + ", serving " + String.join(", ", served))
        + otherVersions(server, run, versions);
  }

  /**
   * Suggests what to do if no worker serves the run's version but others of its type are served.
   */
  private static String otherVersions(RemoteServer server, Workflow run, Set<String> served) {
    if (served.isEmpty()) {
      return "";
    }
    return "; no worker there serves version '%s', only %s: start a worker with that version, or cancel the run and start it again with kagzi workflow retry %s --workflow-version %s"
        .formatted(
            run.getVersion(),
            served.stream().map(WorkflowGet::quoted).collect(Collectors.joining(", ")),
            run.getRunId(),
            wantedVersion(server, run, served));
  }

  /**
   * Returns the version to retry a run with: the only served one, or the type's default if it is
   * served. Otherwise returns the placeholder VERSION, because the names do not show which one is
   * right.
   */
  private static String wantedVersion(RemoteServer server, Workflow run, Set<String> served) {
    if (served.size() == 1) {
      return quoted(served.iterator().next());
    }
    return ListOptions.readAll(page -> TypeCommand.page(server, page)).items().stream()
        .filter(type -> type.getWorkflowType().equals(run.getWorkflowType()))
        .map(WorkflowTypeInfo::getDefaultVersion)
        .filter(served::contains)
        .findFirst()
        .map(WorkflowGet::quoted)
        .orElse("VERSION");
  }

  private static String quoted(String version) {
    return "'" + version + "'";
  }

  /** Due long enough ago that no worker is about to claim it. */
  private static boolean isLongPast(Timestamp due) {
    return due.getSeconds() + DUE_SECONDS < Instant.now().getEpochSecond();
  }

  private static String wanted(Workflow run) {
    return run.getVersion().isEmpty()
        ? run.getWorkflowType() + " without a version"
        : RunText.type(run.getWorkflowType(), run.getVersion());
  }
}
