package dev.kagzi.cli;

import dev.kagzi.protocol.v1.ListScheduleRunsRequest;
import dev.kagzi.protocol.v1.ListScheduleRunsResponse;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.Workflow;
import java.util.List;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(name = "runs", description = "Lists the runs of a schedule, newest first.")
final class ScheduleRuns extends ListCommand<Workflow> {

  @Parameters(paramLabel = "SCHEDULE", description = "The schedule's name or its id.")
  private String schedule = "";

  ScheduleRuns() {
    super("runs");
  }

  @Override
  Function<PageRequest, ListPart<Workflow>> pages(RemoteServer server) {
    ListScheduleRunsRequest.Builder filter =
        ListScheduleRunsRequest.newBuilder()
            .setNamespace(server.namespace())
            .setScheduleId(server.scheduleId(schedule));
    return page -> {
      ListScheduleRunsRequest request = filter.setPage(page).build();
      ListScheduleRunsResponse found =
          server.call(() -> server.schedules().listScheduleRuns(request));
      return ListPart.of(found.getRunsList(), found.getPage());
    };
  }

  @Override
  String text(List<Workflow> runs) {
    return ScheduleText.runs(runs);
  }
}
