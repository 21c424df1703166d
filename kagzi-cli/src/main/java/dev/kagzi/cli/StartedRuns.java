package dev.kagzi.cli;

import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.Workflow;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Runs that the code inside a run's steps has started; they are not child steps. */
final class StartedRuns {
  private static final int SEEN_MAX = 100;

  private StartedRuns() {}

  static List<Workflow> of(RemoteServer server, Workflow run, List<Step> steps) {
    Set<String> children = steps.stream().map(Step::getChildRunId).collect(Collectors.toSet());
    ListWorkflowsRequest request =
        ListWorkflowsRequest.newBuilder()
            .setNamespace(server.namespace())
            .setParentRunId(run.getRunId())
            .setPage(PageRequest.newBuilder().setPageSize(SEEN_MAX))
            .build();
    return server.call(() -> server.workflows().listWorkflows(request)).getWorkflowsList().stream()
        .filter(started -> !children.contains(started.getRunId()))
        .toList();
  }

  /** Returns an empty text if there are none. */
  static String text(List<Workflow> started) {
    if (started.isEmpty()) {
      return "";
    }
    Table table = new Table().row("STARTED BY STEP", "RUN", "TYPE", "STATUS");
    for (Workflow run : started) {
      table.row(
          run.getParentStepId(),
          run.getRunId(),
          RunText.type(run.getWorkflowType(), run.getVersion()),
          RunText.status(run.getStatus()));
    }
    return "\n" + table.text("");
  }
}
