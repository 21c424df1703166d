package dev.kagzi.cli;

import dev.kagzi.protocol.v1.GetWorkflowByExternalIdRequest;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowStatus;
import java.util.List;
import java.util.stream.Stream;

/** Finds the runs that handle the last failure of a run: its own handler and the namespace's. */
final class FailureHandlers {
  private static final String OF_ALL = "__kagzi_failure_handler";

  private FailureHandlers() {}

  static List<Workflow> of(RemoteServer server, Workflow failed) {
    if (failed.getFailureHandlerRunId().isEmpty()) {
      return List.of();
    }
    String attempt = failed.getAttempts() == 1 ? "" : "-attempt-" + failed.getAttempts();
    List<Workflow> found =
        Stream.of("failure-", "system-failure-")
            .map(prefix -> prefix + failed.getRunId() + attempt)
            .flatMap(id -> find(server, id))
            .filter(handler -> handler.getFailedRunId().equals(failed.getRunId()))
            .toList();
    return found.isEmpty()
        ? List.of(WorkflowGet.find(server, failed.getFailureHandlerRunId()))
        : found;
  }

  private static Stream<Workflow> find(RemoteServer server, String id) {
    GetWorkflowByExternalIdRequest request =
        GetWorkflowByExternalIdRequest.newBuilder()
            .setNamespace(server.namespace())
            .setExternalId(id)
            .build();
    try {
      return Stream.of(
          server.call(() -> server.workflows().getWorkflowByExternalId(request)).getWorkflow());
    } catch (CliException e) {
      if (e.exitCode() == ExitCode.NOT_FOUND) {
        return Stream.of();
      }
      throw e;
    }
  }

  static void addTo(Table table, List<Workflow> handlers) {
    for (Workflow handler : handlers) {
      boolean handled = handler.getStatus() == WorkflowStatus.WORKFLOW_STATUS_COMPLETED;
      table.row(
          handled ? "handled by" : "handler run",
          handler.getRunId()
              + (handled ? "" : " (" + RunText.status(handler.getStatus()) + ")")
              + (handler.getWorkflowType().equals(OF_ALL) ? ", of all failures" : ""));
    }
  }
}
