package dev.kagzi.cli;

import dev.kagzi.protocol.v1.ListScheduleRunsRequest;
import dev.kagzi.protocol.v1.ListScheduleRunsResponse;
import dev.kagzi.protocol.v1.Workflow;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(name = "runs", description = "Lists the runs of a schedule, newest first.")
final class ScheduleRuns extends ScheduleCommand.OfOne {

  @Mixin private ListOptions part = new ListOptions();

  @Override
  int run(RemoteServer server, Output output) {
    ListScheduleRunsRequest.Builder filter =
        ListScheduleRunsRequest.newBuilder()
            .setNamespace(server.namespace())
            .setScheduleId(server.scheduleId(nameOrId()));
    ListPart<Workflow> runs =
        part.read(
            page -> {
              ListScheduleRunsRequest request = filter.setPage(page).build();
              ListScheduleRunsResponse found =
                  server.call(() -> server.schedules().listScheduleRuns(request));
              return ListPart.of(found.getRunsList(), found.getPage());
            });
    output.print("runs", runs, () -> ScheduleText.runs(runs.items()));
    return ExitCode.DONE;
  }
}
