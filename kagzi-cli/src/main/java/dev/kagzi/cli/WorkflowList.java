package dev.kagzi.cli;

import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.ListWorkflowsResponse;
import dev.kagzi.protocol.v1.Workflow;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
    name = "list",
    description = "Lists runs, newest first.",
    footer = {"", "Example:", "  kagzi workflow list --status FAILED,TIMED_OUT --since 1d --watch"})
final class WorkflowList extends RemoteCommand {

  @Mixin private RunFilterOptions runs = new RunFilterOptions();

  @Mixin private ListOptions part = new ListOptions();

  @Mixin private WatchOption watch = new WatchOption();

  @Override
  int run(RemoteServer server, Output output) {
    return watch.run(output, each -> show(server, each));
  }

  private int show(RemoteServer server, Output output) {
    ListWorkflowsRequest.Builder filter = runs.request(this, server, Set.of());
    ListPart<Workflow> found = part.read(page -> page(server, filter.setPage(page).build()));
    if (found.items().isEmpty()) {
      // A mistyped namespace would look like one without runs.
      server.requireNamespace();
    }
    output.print("workflows", found, () -> RunText.list(found.items()));
    return ExitCode.DONE;
  }

  static ListPart<Workflow> page(RemoteServer server, ListWorkflowsRequest request) {
    ListWorkflowsResponse found = server.call(() -> server.workflows().listWorkflows(request));
    return ListPart.of(found.getWorkflowsList(), found.getPage());
  }
}
