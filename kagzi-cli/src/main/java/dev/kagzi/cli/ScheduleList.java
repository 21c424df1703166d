package dev.kagzi.cli;

import dev.kagzi.protocol.v1.ListWorkflowSchedulesRequest;
import dev.kagzi.protocol.v1.ListWorkflowSchedulesResponse;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.WorkflowSchedule;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "list",
    description = "Lists schedules, newest first, including paused ones.",
    footer = {"", "Example:", "  kagzi schedule list --enabled true --watch=5s"})
final class ScheduleList extends ListCommand<WorkflowSchedule> {

  ScheduleList() {
    super("schedules");
  }

  @Option(
      names = "--queue",
      paramLabel = "NAME",
      description = "Only schedules of this task queue.")
  private @Nullable String queue;

  @Option(
      names = "--workflow",
      paramLabel = "TYPE",
      description = "Only schedules of this workflow type.")
  private @Nullable String workflow;

  @Option(
      names = "--enabled",
      arity = "1",
      paramLabel = "BOOLEAN",
      description = "true: only schedules that fire; false: only paused ones.")
  private @Nullable Boolean enabled;

  @Override
  Function<PageRequest, ListPart<WorkflowSchedule>> pages(RemoteServer server) {
    ListWorkflowSchedulesRequest.Builder filter =
        ListWorkflowSchedulesRequest.newBuilder().setNamespace(server.namespace());
    setIfGiven(queue, filter::setTaskQueue);
    setIfGiven(workflow, filter::setWorkflowType);
    setIfGiven(enabled, filter::setEnabled);
    return page -> {
      ListWorkflowSchedulesRequest request = filter.setPage(page).build();
      ListWorkflowSchedulesResponse found =
          server.call(() -> server.schedules().listWorkflowSchedules(request));
      return ListPart.of(found.getSchedulesList(), found.getPage());
    };
  }

  @Override
  String text(List<WorkflowSchedule> schedules) {
    return ScheduleText.list(schedules);
  }
}
