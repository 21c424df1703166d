package dev.kagzi.cli;

import dev.kagzi.protocol.v1.UpdateWorkflowScheduleRequest;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "update", description = "Updates the given options of a schedule.")
final class ScheduleUpdate extends ScheduleCommand.OfOne {

  @Option(names = "--name", paramLabel = "NAME", description = "Its new name.")
  private @Nullable String name;

  @Mixin private ScheduleOptions wanted = new ScheduleOptions();

  @Option(
      names = "--next",
      paramLabel = "TIME",
      description = "Overrides the next slot; later ones follow the expression.")
  private @Nullable String next;

  @Override
  int run(RemoteServer server, Output output) {
    UpdateWorkflowScheduleRequest.Builder request =
        UpdateWorkflowScheduleRequest.newBuilder()
            .setNamespace(server.namespace())
            .setOverlapPolicy(wanted.policy());
    setIfGiven(name, request::setName);
    setIfGiven(wanted.workflow, request::setWorkflowType);
    setIfGiven(wanted.queue, request::setTaskQueue);
    setIfGiven(wanted.cron, request::setCronExpr);
    setIfGiven(wanted.zone, request::setTimeZone);
    setIfGiven(wanted.payload(this), request::setInput);
    setIfGiven(wanted.version, request::setVersion);
    setIfGiven(wanted.maxCatchup, request::setMaxCatchup);
    setIfGiven(wanted.jitterMs(this), request::setJitterMs);
    if (next != null) {
      request.setNextFireAt(TimeOption.read(this, "--next", next));
    }
    request.setScheduleId(scheduleId(server));
    return show(
        output,
        server
            .call(() -> server.schedules().updateWorkflowSchedule(request.build()))
            .getSchedule());
  }
}
