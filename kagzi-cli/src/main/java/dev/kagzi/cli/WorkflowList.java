package dev.kagzi.cli;

import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.ListWorkflowsResponse;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowStatus;
import dev.kagzi.sdk.RunStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "list", description = "Lists runs, newest first.")
final class WorkflowList extends RemoteCommand {

  @Option(
      names = "--status",
      paramLabel = "STATUS",
      split = ",",
      description = "Only these: ${COMPLETION-CANDIDATES}.")
  private List<RunStatus> statuses = List.of();

  @Option(names = "--type", paramLabel = "NAME", description = "Only runs of this type.")
  private @Nullable String type;

  @Option(names = "--queue", paramLabel = "NAME", description = "Only runs of this task queue.")
  private @Nullable String queue;

  @Option(
      names = "--parent",
      paramLabel = "RUN",
      description = "Only runs that this run has started.")
  private @Nullable String parent;

  @Option(names = "--top-level", description = "Only runs that no other run has started.")
  private boolean topLevel;

  @Option(
      names = "--blocked",
      description = "Only runs that cannot continue with the code of their workers.")
  private boolean blocked;

  @Option(
      names = "--since",
      paramLabel = "TIME",
      description =
          "Only runs created since this time: 30m, 2h, 7d ago, a day, or a time in RFC 3339.")
  private @Nullable String since;

  @Mixin private ListOptions part = new ListOptions();

  @Override
  int run(RemoteServer server, Output output) {
    ListWorkflowsRequest.Builder filter =
        ListWorkflowsRequest.newBuilder().setNamespace(server.namespace());
    for (RunStatus status : statuses) {
      filter.addStatuses(WorkflowStatus.valueOf("WORKFLOW_STATUS_" + status));
    }
    if (type != null) {
      filter.setWorkflowType(type);
    }
    if (queue != null) {
      filter.setTaskQueue(queue);
    }
    if (parent != null) {
      filter.setParentRunId(server.runId(parent));
    }
    if (since != null) {
      filter.setCreatedAfter(TimeOption.readPast(this, "--since", since));
    }
    filter.setTopLevel(topLevel).setBlocked(blocked);
    ListPart<Workflow> runs =
        part.read(
            page -> {
              ListWorkflowsRequest request = filter.setPage(page).build();
              ListWorkflowsResponse found =
                  server.call(() -> server.workflows().listWorkflows(request));
              return ListPart.of(found.getWorkflowsList(), found.getPage());
            });
    if (runs.items().isEmpty()) {
      // A mistyped namespace would look like one without runs.
      server.requireNamespace();
    }
    output.print("workflows", runs, () -> RunText.list(runs.items()));
    return ExitCode.DONE;
  }
}
