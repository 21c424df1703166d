package dev.kagzi.cli;

import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.ListWorkflowsResponse;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.Workflow;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
    name = "list",
    description = "Lists runs, newest first.",
    footer = {"", "Example:", "  kagzi workflow list --status FAILED,TIMED_OUT --since 1d --watch"})
final class WorkflowList extends ListCommand<Workflow> {

  WorkflowList() {
    super("workflows");
  }

  @Mixin private RunFilterOptions runs = new RunFilterOptions();

  @Override
  Function<PageRequest, ListPart<Workflow>> pages(RemoteServer server) {
    ListWorkflowsRequest.Builder filter = runs.request(this, server, Set.of());
    return page -> page(server, filter.setPage(page).build());
  }

  @Override
  String text(List<Workflow> found) {
    return RunText.list(found);
  }

  @Override
  String none() {
    return runs.isBlocked()
        ? "no blocked workflows: no run waits because the code of its workers does not match what"
            + " is recorded of it; `kagzi workflow why RUN` explains why any other run waits"
        : super.none();
  }

  static ListPart<Workflow> page(RemoteServer server, ListWorkflowsRequest request) {
    ListWorkflowsResponse found = server.call(() -> server.workflows().listWorkflows(request));
    return ListPart.of(found.getWorkflowsList(), found.getPage());
  }
}
